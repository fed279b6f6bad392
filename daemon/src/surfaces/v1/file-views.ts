/** View functions that several 1.x file routes share. */
import type { SkippedSummary } from '../../core/files/tree/skipped.ts';
import { showPath } from '../../kit/text/path-text.ts';

/** Uses a numeric offset, because older Python versions do not read Z. */
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString().replace('Z', '+00:00');
}

/** What a walk could not read, and the links to directories that it did not enter. */
export function skippedHint(
  { skipped, skippedCount, hiddenCount, linkCount }: SkippedSummary,
  howToSeeHidden: string,
): string | null {
  const links = linkCount === 1 ? 'A link to a directory was' : `${linkCount} links to directories were`;
  const sentences = [
    unreadable({ skipped, skippedCount }),
    hiddenCount > 0 ? `Hidden names were left out: ${hiddenCount}; ${howToSeeHidden}.` : null,
    linkCount > 0 ? `${links} not entered; a call with the path of the link lists it.` : null,
  ].filter((sentence) => sentence !== null);
  return sentences.length === 0 ? null : sentences.join(' ');
}

/** Names the first directory that could not be read; null when there is none. */
export function unreadable({ skipped, skippedCount }: Pick<SkippedSummary, 'skipped' | 'skippedCount'>): string | null {
  const [first] = skipped;
  const others = skippedCount === 1 ? '' : ` and ${skippedCount - 1} more directories`;
  return first ? `${showPath(first.path)}${others} could not be read (${first.errnoName}).` : null;
}
