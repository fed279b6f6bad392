/** Keeps the newest events of a watcher, each with a unique sequence number. */
import type { Change } from './change.ts';

/** Events per watcher (contract, Watch). */
export const ringSize = 10_000;

export interface WatchEvent extends Omit<Change, 'mayReplace' | 'isWhole'> {
  readonly seq: number;
  /** A created entry has come from elsewhere, and was not made in its place. */
  readonly isMovedIn: boolean;
  /** When the change happened, in ms since 1970. */
  readonly atMs: number;
  /** Null when the entry no longer existed at the time of the report. */
  readonly modifiedMs: number | null;
  readonly sizeBytes: number | null;
  readonly inode: number | null;
}

export interface EventPage {
  readonly events: readonly WatchEvent[];
  /** Number of the last entry that was read. The next page starts after it. */
  readonly cursor: number;
  /** Events are missing between the given cursor and the first event of the page. */
  readonly isOverflow: boolean;
}

/** A null entry marks lost events. The mark has a sequence number too, so that no reader can miss it. */
export class EventRing {
  readonly #entries: (WatchEvent | null)[] = [];
  #last = 0;
  #kept = 0;

  /** Number of the newest entry; 0 when there is none. */
  get cursor(): number {
    return this.#last;
  }

  get eventCount(): number {
    return this.#kept;
  }

  add(event: Omit<WatchEvent, 'seq'>): void {
    this.#put({ seq: this.#last + 1, ...event });
  }

  /** Adds at most one mark in a row. */
  addLoss(): void {
    if (this.#last > 0 && this.#entries[this.#last % ringSize] === null) return;
    this.#put(null);
  }

  #put(entry: WatchEvent | null): void {
    this.#last += 1;
    const at = this.#last % ringSize;
    this.#kept += Number(entry !== null) - Number(Boolean(this.#entries[at]));
    this.#entries[at] = entry;
  }

  /** Returns at most `limit` events after `cursor`. A cursor beyond the newest entry counts as the newest. */
  after(cursor: number, limit: number): EventPage {
    const oldest = Math.max(1, this.#last - ringSize + 1);
    let at = Math.min(cursor, this.#last);
    let isOverflow = at < oldest - 1;
    if (isOverflow) at = oldest - 1;
    const events: WatchEvent[] = [];
    while (at < this.#last && events.length < limit) {
      const event = this.#entries[(at + 1) % ringSize];
      // A page never contains events from both sides of a loss, because the reader must list the tree again in between.
      if (!event && events.length > 0) break;
      at += 1;
      if (event) events.push(event);
      else isOverflow = true;
    }
    return { events, cursor: at, isOverflow };
  }
}
