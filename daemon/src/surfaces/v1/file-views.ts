/** View functions that several 1.x file routes share. */
import type { SkippedSummary } from '../../core/files/tree/skipped.ts';
import { showPath } from '../../kit/path-text.ts';

/** Uses a numeric offset, because older Python versions do not read Z. */
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString().replace('Z', '+00:00');
}

/** Names the paths that a walk could not read. */
export function skippedHint({ skipped, skippedCount }: SkippedSummary): string | null {
  const [first] = skipped;
  if (!first) return null;
  const others = skippedCount === 1 ? '' : ` and ${skippedCount - 1} more directories`;
  return `${showPath(first.path)}${others} could not be read (${first.errnoName}).`;
}
