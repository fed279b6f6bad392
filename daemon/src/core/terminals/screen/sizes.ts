/** Records the size of a session at each point of its output, so that output is rendered at its size. */
import type { TerminalSize } from '../../../kit/types/terminal-size.ts';

/** Plain data, because it is kept in the session record. */
export interface SizeChange extends TerminalSize {
  /** The first byte of the output written for this size, as far as known. */
  readonly offset: number;
}

/** Dragging a window corner makes many changes. The oldest are dropped first. */
const maxChanges = 256;

/** `before` is the size before the change. */
export function noteSize(
  changes: readonly SizeChange[] | undefined,
  before: TerminalSize,
  change: SizeChange,
): SizeChange[] {
  const known = changes?.length ? changes : [{ offset: 0, cols: before.cols, rows: before.rows }];
  return [...known, change].slice(-maxChanges);
}

/** The size in force at this offset; null if none was recorded. */
export function sizeAt(changes: readonly SizeChange[], offset: number): SizeChange | null {
  return changes.findLast((change) => change.offset <= offset) ?? changes[0] ?? null;
}

/** The changes after `last`, in order; all changes if `last` was dropped meanwhile. */
export function sizesBehind(changes: readonly SizeChange[], last: SizeChange | null): readonly SizeChange[] {
  return last === null ? changes : changes.slice(changes.indexOf(last) + 1);
}
