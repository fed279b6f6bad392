/** Wakes all waiters and calls all listeners at a change; queues nothing, so a slow waiter costs nothing. */

export class Notifier {
  readonly #waiters = new Set<() => void>();
  readonly #listeners = new Set<() => void>();

  /** Resolves at the next `notify`, or when the signal aborts. The caller then checks the state again. */
  wait(signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiters.delete(wake);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiters.add(wake);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }

  /** Calls the listener at every `notify` until the result is disposed of. */
  listen(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  notify(): void {
    for (const listener of this.#listeners) listener();
    for (const wake of [...this.#waiters]) wake();
  }

  get waiting(): number {
    return this.#waiters.size + this.#listeners.size;
  }
}
