/** Which size a session had where in its output, so that what was written for one is not read in another. */
import type { TerminalSize } from './terminal-size.ts';

/** Plain data: it is kept in the record of the session. */
export interface SizeChange extends TerminalSize {
  /** The first byte of the output that was written for it, as far as that can be known. */
  readonly offset: number;
}

/** Who drags the corner of a window makes many of them; those of long ago are forgotten first. */
const mostChanges = 256;

/** `before` is the size until now. */
export function noteSize(
  changes: readonly SizeChange[] | undefined,
  before: TerminalSize,
  change: SizeChange,
): SizeChange[] {
  const known = changes?.length ? changes : [{ offset: 0, cols: before.cols, rows: before.rows }];
  return [...known, change].slice(-mostChanges);
}

/** The one that was in force at this offset; null when none was noted. */
export function sizeAt(changes: readonly SizeChange[], offset: number): SizeChange | null {
  return changes.findLast((change) => change.offset <= offset) ?? changes[0] ?? null;
}

/** Those behind that one, in order. It may have been forgotten meanwhile. */
export function sizesBehind(changes: readonly SizeChange[], last: SizeChange | null): readonly SizeChange[] {
  return last === null ? changes : changes.slice(changes.indexOf(last) + 1);
}
