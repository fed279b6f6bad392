/** Keeps the newest events of one source, each with a number of its own. */

export interface Numbered {
  /** Grows with each event. */
  readonly seq: number;
}

export interface EventPage<E> {
  readonly events: readonly E[];
  /** Number of the last entry that was read. The next page starts after it. */
  readonly cursor: number;
  /** Events are missing between the given cursor and the first event of the page. */
  readonly isOverflow: boolean;
}

/** A null entry marks lost events. The mark has a sequence number too, so that no reader can miss it. */
export class EventRing<E extends object> {
  readonly #entries: ((E & Numbered) | null)[] = [];
  readonly #size: number;
  readonly #first: number;
  #last: number;
  #kept = 0;

  /** Keeps `size` events at most. Numbers begin after `from`. */
  constructor(size: number, from = 0) {
    this.#size = size;
    this.#first = this.#last = from;
  }

  /** Number of the newest entry; that from which the numbers began when there is none. */
  get cursor(): number {
    return this.#last;
  }

  get eventCount(): number {
    return this.#kept;
  }

  add(event: E): void {
    this.#put({ ...event, seq: this.#last + 1 });
  }

  /** Adds at most one mark in a row. */
  addLoss(): void {
    if (this.#last > this.#first && this.#entries[this.#last % this.#size] === null) return;
    this.#put(null);
  }

  #put(entry: (E & Numbered) | null): void {
    this.#last += 1;
    const at = this.#last % this.#size;
    this.#kept += Number(entry !== null) - Number(Boolean(this.#entries[at]));
    this.#entries[at] = entry;
  }

  /** Returns at most `limit` events after `cursor`. A cursor beyond the newest entry counts as the newest. */
  after(cursor: number, limit: number): EventPage<E & Numbered> {
    const oldest = Math.max(this.#first + 1, this.#last - this.#size + 1);
    let at = Math.min(cursor, this.#last);
    let isOverflow = at < oldest - 1;
    if (isOverflow) at = oldest - 1;
    const events: (E & Numbered)[] = [];
    while (at < this.#last && events.length < limit) {
      const event = this.#entries[(at + 1) % this.#size];
      // A page never contains events from both sides of a loss, because the reader must list the tree again in between.
      if (!event && events.length > 0) break;
      at += 1;
      if (event) events.push(event);
      else isOverflow = true;
    }
    return { events, cursor: at, isOverflow };
  }
}
