/** Streams what a cell shows until its end. */
import { Deadline } from '../../../kit/deadline.ts';
import type { FollowOptions as EventOptions } from '../../../kit/events/follow-events.ts';
import type { Cell } from './cell.ts';
import { atStart, type CellChange } from './outputs.ts';

export type CellMessage =
  | { readonly kind: 'change'; readonly change: CellChange }
  | { readonly kind: 'silence' }
  /** `failed`: the cell never ran. `closing`: the daemon shuts down, and the cell goes on. */
  | { readonly kind: 'end'; readonly reason: 'ended' | 'failed' | 'closing' };

export interface FollowOptions extends Pick<EventOptions, 'signal' | 'closing'> {
  /** Time without changes after which the stream yields `silence`; null yields none. */
  readonly silenceMs: number | null;
}

export async function* follow(cell: Cell, { silenceMs, signal, closing }: FollowOptions): AsyncGenerator<CellMessage> {
  for (let cursor = atStart; ;) {
    // Read before the changes, so that all changes before the end are reported before the end.
    const { isOver } = cell;
    const news = cell.outputs.since(cursor);
    cursor = news.cursor;
    for (const change of news.changes) yield { kind: 'change', change };
    if (isOver) {
      yield { kind: 'end', reason: cell.failure === null ? 'ended' : 'failed' };
      return;
    }
    if (signal.aborted) return;
    if (closing.aborted) {
      yield { kind: 'end', reason: 'closing' };
      return;
    }
    using quiet = new Deadline(silenceMs, signal, closing);
    // Output that arrived while the changes above were sent is handled first.
    if (cell.outputs.since(cursor).changes.length > 0 || cell.isOver) continue;
    await cell.changed(quiet.signal);
    if (quiet.passed && !signal.aborted && !closing.aborted) yield { kind: 'silence' };
  }
}
