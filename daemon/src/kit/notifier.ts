/** Wakes all waiters at a change; queues nothing, so a slow waiter costs nothing. */

export class Notifier {
  #waiters = new Set<() => void>();

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

  notify(): void {
    for (const wake of [...this.#waiters]) wake();
  }

  get waiting(): number {
    return this.#waiters.size;
  }
}
