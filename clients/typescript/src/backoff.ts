/** Waits between attempts: briefly at first, because a daemon that died is back within milliseconds, then longer. */
const firstMs = 20;
const longestMs = 1000;

/** Counts the time since the first failure in a row, and gives up after `budgetMs`. */
export class Backoff {
  #nextMs = firstMs;
  #deadlineMs: number | null = null;

  constructor(private readonly budgetMs: number) {}

  /** An attempt has succeeded. */
  reset(): void {
    this.#nextMs = firstMs;
    this.#deadlineMs = null;
  }

  /** False when the budget is used up. `leastMs` is what the daemon asks for. Throws the reason of the signal. */
  async wait(leastMs: number, signal: AbortSignal | undefined): Promise<boolean> {
    signal?.throwIfAborted();
    const nowMs = performance.now();
    this.#deadlineMs ??= nowMs + this.budgetMs;
    // Randomized, so that a hundred clients do not come back at the same moment.
    const ms = Math.max(leastMs, this.#nextMs * (0.75 + Math.random() / 2));
    this.#nextMs = Math.min(this.#nextMs * 2, longestMs);
    if (nowMs + ms > this.#deadlineMs) return false;
    await pause(ms, signal);
    return true;
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
