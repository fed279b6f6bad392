/** The events of one watcher that are still to be worked on, in order; finds the two ends of a move in it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { inotify } from './inotify-bits.ts';
import type { InotifyEvent } from '../../platform/inotify.ts';
import type { Listener } from './watch-table.ts';

/**
 * The kernel writes both ends of a move one after the other, without a lock that keeps other events or a pause of the
 * mover out: an end that stays alone for so long has its other end outside.
 */
const partnerMs = 10;
/** Past this many events the memory is worth more than they are: they are given up as the kernel does. */
const mostQueued = 65_536;

export interface QueuedEvent {
  readonly listener: Listener;
  readonly event: InotifyEvent;
  /** When it was received, on the clock that never jumps. */
  readonly atMs: number;
  readonly number: number;
  /** The other end of a move has told of it. */
  isTold: boolean;
}

export type QueueItem = QueuedEvent | { readonly fence: number };

export class MoveQueue {
  readonly #fence: () => number;
  #items: QueueItem[] = [];
  #head = 0;
  #numbers = 0;
  readonly #arrivals = new Map<number, QueuedEvent>();
  /** Every event up to this number has its other end in the queue, or has none. */
  #settledNumber = 0;
  #waiting: { readonly cookie: number; fence: number; readonly go: () => void } | null = null;

  /** `fence` puts a mark into the queue of the kernel, and answers which. */
  constructor(fence: () => number) {
    this.#fence = fence;
  }

  get isFull(): boolean {
    return this.#items.length - this.#head >= mostQueued;
  }

  push(listener: Listener, event: InotifyEvent): void {
    this.#numbers += 1;
    const item = { listener, event, atMs: performance.now(), number: this.#numbers, isTold: false };
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

  /** Where what left has arrived; null when that is outside. A promise while it may still come. */
  arrivalOf(departure: QueuedEvent): QueuedEvent | null | Promise<QueuedEvent | null> {
    const { cookie } = departure.event;
    const arrival = this.#arrivals.get(cookie) ?? null;
    if (arrival) this.#arrivals.delete(cookie);
    if (arrival || departure.number <= this.#settledNumber) return arrival;
    return this.#partnersSettled(cookie).then(() => this.arrivalOf(departure));
  }

  /** Forgets everything, and lets go who waits. */
  clear(): void {
    this.#items = [];
    this.#head = 0;
    this.#arrivals.clear();
    this.#settledNumber = this.#numbers;
    this.#waiting?.go();
  }

  /** One wait is for all that is in the queue by now. */
  async #partnersSettled(cookie: number): Promise<void> {
    const upTo = this.#numbers;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = { cookie, fence: -1, go: resolve };
    this.#waiting = waiting;
    await Promise.race([promise, sleep(partnerMs)]);
    if (!this.#arrivals.has(cookie) && upTo > this.#settledNumber) {
      waiting.fence = this.#fence();
      await promise;
      if (!this.#arrivals.has(cookie)) this.#settledNumber = Math.max(this.#settledNumber, upTo);
    }
    this.#waiting = null;
  }
}
