/** Queues the events of one watcher and finds the two halves of each move. */
import { setTimeout as sleep } from 'node:timers/promises';
import { inotify } from './inotify-bits.ts';
import type { InotifyEvent } from '../../platform/files/inotify.ts';
import type { Listener } from './watch-table.ts';

/**
 * The kernel writes the two halves of a move one after the other, without a lock. Other events, or a pause of the
 * moving process, may come between them. If the other half does not arrive within this time, the other end of the move
 * is outside the watched tree.
 */
const partnerMs = 10;
/** Above this number the queue drops its events to save memory, as the kernel does. */
const maxQueued = 65_536;

export interface QueuedEvent {
  readonly listener: Listener;
  readonly event: InotifyEvent;
  /** When the event was received, on the monotonic clock. */
  readonly atMs: number;
  readonly number: number;
  /** The other half of the move has already reported the event. */
  isReported: boolean;
}

export type QueueItem = QueuedEvent | { readonly fence: number };

export class MoveQueue {
  #items: QueueItem[] = [];
  #head = 0;
  #numbers = 0;
  readonly #arrivals = new Map<number, QueuedEvent>();
  /** For every event up to this number, the other half is in the queue or does not exist. */
  #settledNumber = 0;
  #waiting: { readonly cookie: number; fence: number; readonly go: () => void } | null = null;

  /** `fence` puts a mark into the kernel queue and returns the number of the mark. */
  constructor(private readonly fence: () => number) {}

  get isFull(): boolean {
    return this.#items.length - this.#head >= maxQueued;
  }

  push(listener: Listener, event: InotifyEvent): void {
    this.#numbers += 1;
    const item = { listener, event, atMs: performance.now(), number: this.#numbers, isReported: false };
    this.#items.push(item);
    if (!(event.mask & inotify.movedTo)) return;
    this.#arrivals.set(event.cookie, item);
    if (this.#waiting?.cookie === event.cookie) this.#waiting.go();
  }

  passFence(fence: number): void {
    if (this.#waiting?.fence === fence) this.#waiting.go();
    else this.#items.push({ fence });
  }

  shift(): QueueItem | undefined {
    const item = this.#items[this.#head];
    if (item === undefined) return undefined;
    this.#head += 1;
    if (this.#head > 1000 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    if ('event' in item && item.event.mask & inotify.movedTo) this.#arrivals.delete(item.event.cookie);
    return item;
  }

  /** The arrival of a departure; null when the entry left the tree. A promise while the arrival may still come. */
  arrivalOf(departure: QueuedEvent): QueuedEvent | null | Promise<QueuedEvent | null> {
    const { cookie } = departure.event;
    const arrival = this.#arrivals.get(cookie) ?? null;
    if (arrival) this.#arrivals.delete(cookie);
    if (arrival || departure.number <= this.#settledNumber) return arrival;
    return this.#partnersSettled(cookie).then(() => this.arrivalOf(departure));
  }

  /** Drops all events and releases the waiting caller. */
  clear(): void {
    this.#items = [];
    this.#head = 0;
    this.#arrivals.clear();
    this.#settledNumber = this.#numbers;
    this.#waiting?.go();
  }

  /** One wait settles all events that are in the queue now. */
  async #partnersSettled(cookie: number): Promise<void> {
    const upTo = this.#numbers;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = { cookie, fence: -1, go: resolve };
    this.#waiting = waiting;
    await Promise.race([promise, sleep(partnerMs)]);
    if (!this.#arrivals.has(cookie) && upTo > this.#settledNumber) {
      waiting.fence = this.fence();
      await promise;
      if (!this.#arrivals.has(cookie)) this.#settledNumber = Math.max(this.#settledNumber, upTo);
    }
    this.#waiting = null;
  }
}
