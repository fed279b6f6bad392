/** Waits between attempts: briefly at first, because a daemon that died is back within milliseconds, then longer. */
import { BoxError } from './result.ts';

const firstMs = 20;
const longestMs = 1000;

/** Hears of each failure that is waited out, and of the time since the first failure in a row. May throw to give up. */
export type OnAway = (error: BoxError, sinceMs: number) => void | Promise<void>;

/** Counts the time since the first failure in a row, and gives up after its budget, which is asked for each time. */
export class Backoff {
  #nextMs = firstMs;
  #sinceMs: number | null = null;

  constructor(
    private readonly budgetMs: () => number,
    private readonly onAway?: OnAway,
  ) {}

  /** The daemon has answered. The next wait is no shorter, because the daemon may be about to go. */
  answered(): void {
    this.#sinceMs = null;
  }

  /** An attempt has succeeded. */
  reset(): void {
    this.#nextMs = firstMs;
    this.answered();
  }

  /** False when the budget is used up. `leastMs` is what the daemon asks for. Throws the reason of the signal. */
  async wait(error: BoxError, leastMs: number, signal: AbortSignal | undefined): Promise<boolean> {
    signal?.throwIfAborted();
    const nowMs = performance.now();
    this.#sinceMs ??= nowMs;
    const sinceMs = nowMs - this.#sinceMs;
    // Randomized, so that a hundred clients do not come back at the same moment.
    const ms = Math.max(leastMs, this.#nextMs * (0.75 + Math.random() / 2));
    this.#nextMs = Math.min(this.#nextMs * 2, longestMs);
    if (sinceMs + ms > this.budgetMs()) return false;
    await this.onAway?.(error, sinceMs);
    await pause(ms, signal);
    return true;
  }

  /** The error after the last wait. `hint` says how the caller goes on when the daemon is back. */
  gaveUp(hint: string, cause: BoxError): BoxError {
    const message = `the daemon was away for ${this.budgetMs() / 1000} s: ${cause.message}`;
    return new BoxError({ code: 'gave_up', message, hint, cause });
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
