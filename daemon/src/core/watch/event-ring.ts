/** The newest events of a watcher, each with a number that is never used again. */
import type { Change } from './change.ts';

/** Of each watcher (contract, Watch). */
export const ringSize = 10_000;

export interface WatchEvent extends Omit<Change, 'mayReplace' | 'isWhole'> {
  readonly seq: number;
  /** When it happened, in ms since 1970. */
  readonly atMs: number;
  /** Null where nothing was there any more when it was told. */
  readonly modifiedMs: number | null;
  readonly sizeBytes: number | null;
  readonly inode: number | null;
}

export interface EventPage {
  readonly events: readonly WatchEvent[];
  /** The number of the last entry that was looked at: read on from here. */
  readonly cursor: number;
  /** Something is lost between the given cursor and the first of these events. */
  readonly isOverflow: boolean;
}

/** An entry without an event is a place where some were lost: it has a number too, so that nobody passes it unaware. */
export class EventRing {
  readonly #entries: (WatchEvent | null)[] = [];
  #last = 0;

  /** The number of the newest entry; 0 when there was none. */
  get cursor(): number {
    return this.#last;
  }

  add(event: Omit<WatchEvent, 'seq'>): void {
    this.#last += 1;
    this.#entries[this.#last % ringSize] = { seq: this.#last, ...event };
  }

  /** Twice in a row says no more than once. */
  addLoss(): void {
    if (this.#last > 0 && this.#entries[this.#last % ringSize] === null) return;
    this.#last += 1;
    this.#entries[this.#last % ringSize] = null;
  }

  /** What comes after `cursor`, at most `limit` events; a cursor from the future is that of now. */
  after(cursor: number, limit: number): EventPage {
    const oldest = Math.max(1, this.#last - ringSize + 1);
    let at = Math.min(cursor, this.#last);
    let isOverflow = at < oldest - 1;
    if (isOverflow) at = oldest - 1;
    const events: WatchEvent[] = [];
    while (at < this.#last && events.length < limit) {
      const event = this.#entries[(at + 1) % ringSize];
      // What came before a loss is not in one page with what came after: in between a reader lists the tree anew.
      if (!event && events.length > 0) break;
      at += 1;
      if (event) events.push(event);
      else isOverflow = true;
    }
    return { events, cursor: at, isOverflow };
  }
}
