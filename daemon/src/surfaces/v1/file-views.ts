/** What the answers of several 1.x file routes have in common. */
import type { SkippedSummary } from '../../core/files/skipped.ts';
import { showPath } from '../../kit/path-text.ts';

/** With an offset in figures: older Pythons read no Z. */
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString().replace('Z', '+00:00');
}

/** What a walk could not look into. */
export function skippedHint({ skipped, skippedCount }: SkippedSummary): string | null {
  const [first] = skipped;
  if (!first) return null;
  const others = skippedCount === 1 ? '' : ` and ${skippedCount - 1} more directories`;
  return `${showPath(first.path)}${others} could not be read (${first.errnoName}).`;
}
