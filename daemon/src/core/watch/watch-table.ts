/** Shares one inotify queue among all watchers and delivers each event to its listeners. */
import { inotify } from './inotify-bits.ts';
import type { Inotify, InotifyEvent, OpenEventQueue } from '../../platform/files/inotify.ts';

/** One place that a watch belongs to. A directory can be in several places, of one watcher or of several. */
export interface Listener {
  readonly receiver: Receiver;
}

export interface Receiver {
  receive(listener: Listener, event: InotifyEvent): void;
  fencePassed(watch: number): void;
  overflowed(): void;
  /** The batch is complete, and the receiver can handle its events. */
  wake(): void;
  /** The queue cannot be read any more. */
  broken(error: unknown): void;
}

/** Opens the queue only while a receiver uses it, because inotify instances are scarce (128 per account). */
export class WatchTable {
  readonly #listeners = new Map<number, Set<Listener>>();
  readonly #receivers = new Set<Receiver>();
  readonly #fences = new Map<number, Receiver>();
  #queue: Inotify | null = null;

  constructor(private readonly open: OpenEventQueue) {}

  /** Throws the error of the system, for example EMFILE when no instances are left. */
  join(receiver: Receiver): void {
    this.#queue ??= this.#openQueue();
    this.#receivers.add(receiver);
  }

  /** Ignores late events of a closed queue, because a new queue reuses the watch numbers. */
  #openQueue(): Inotify {
    const queue: Inotify = this.open(
      (events) => {
        if (this.#queue === queue) this.#deliver(events);
      },
      (error) => {
        if (this.#queue === queue) this.#break(error);
      },
    );
    return queue;
  }

  /** Unless it is the last, the receiver removes its watches first. Closing the queue ends all at once. */
  leave(receiver: Receiver): void {
    this.#receivers.delete(receiver);
    for (const [watch, owner] of this.#fences) if (owner === receiver) this.#fences.delete(watch);
    if (this.#receivers.size === 0) this.#close();
  }

  isLast(receiver: Receiver): boolean {
    return this.#receivers.size === 1 && this.#receivers.has(receiver);
  }

  listen(path: string, mask: number, listener: Listener): number {
    const watch = this.#opened.watch(path, mask);
    this.#listeners.getOrInsertComputed(watch, () => new Set()).add(listener);
    return watch;
  }

  unlisten(watch: number, listener: Listener): void {
    const listeners = this.#listeners.get(watch);
    if (!listeners?.delete(listener) || listeners.size > 0) return;
    this.#listeners.delete(watch);
    this.#queue?.unwatch(watch);
  }

  /** Notifies the receiver when all events up to now have been received. */
  fence(receiver: Receiver): number {
    const watch = this.#opened.fence();
    this.#fences.set(watch, receiver);
    return watch;
  }

  get #opened(): Inotify {
    if (!this.#queue) throw new Error('no caller has joined');
    return this.#queue;
  }

  #deliver(events: readonly InotifyEvent[]): void {
    for (const event of events) {
      if (event.mask & inotify.overflow) this.#overflow();
      else if (!this.#isFence(event)) this.#deliverOne(event);
    }
    for (const receiver of this.#receivers) receiver.wake();
  }

  #deliverOne(event: InotifyEvent): void {
    const listeners = this.#listeners.get(event.watch);
    if (!listeners) return;
    if (event.mask & inotify.ignored) this.#listeners.delete(event.watch);
    for (const listener of listeners) listener.receiver.receive(listener, event);
  }

  #isFence({ watch, mask }: InotifyEvent): boolean {
    const receiver = this.#fences.get(watch);
    if (!receiver || !(mask & inotify.ignored)) return false;
    this.#fences.delete(watch);
    receiver.fencePassed(watch);
    return true;
  }

  /** The overflow also dropped fences, so all receivers must start over. */
  #overflow(): void {
    this.#fences.clear();
    for (const receiver of this.#receivers) receiver.overflowed();
  }

  #break(error: unknown): void {
    const receivers = [...this.#receivers];
    this.#receivers.clear();
    this.#close();
    for (const receiver of receivers) receiver.broken(error);
  }

  #close(): void {
    this.#queue?.[Symbol.dispose]();
    this.#queue = null;
    this.#listeners.clear();
    this.#fences.clear();
  }
}
