/** Deletes the files of evicted commands while the daemon waits for a keeper, because a disk may be slow. */
import type { Child } from '../../platform/process/spawn.ts';

/** Files of evicted commands stay for this long when no other command starts. */
const maxWaitMs = 20;

type Forgettable = Pick<Child, 'forget'>;

export class EvictedFiles {
  #waiting: Forgettable[] = [];
  #timer: ReturnType<typeof setTimeout> | null = null;

  /** `onFault` is called for files that the system does not delete. */
  constructor(private readonly onFault: (error: unknown) => void) {}

  add(child: Forgettable): void {
    this.#waiting.push(child);
    this.#timer ??= setTimeout(() => this.deleteAll(), maxWaitMs);
  }

  /** Deletes the files of one command in the next turn of the event loop. */
  deleteNext(): void {
    if (this.#waiting.length > 0) setImmediate(() => this.#delete(this.#waiting.shift()));
  }

  deleteAll(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    for (const child of this.#waiting.splice(0)) this.#delete(child);
  }

  #delete(child: Forgettable | undefined): void {
    try {
      child?.forget();
    } catch (error) {
      this.onFault(error);
    }
  }
}
