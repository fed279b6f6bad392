/** Waits between attempts: briefly at first, because a daemon that died is back within milliseconds, then longer. */
import { setTimeout as delay } from 'node:timers/promises';

const firstMs = 20;
const longestMs = 1000;

export class Backoff {
  #nextMs = firstMs;

  reset(): void {
    this.#nextMs = firstMs;
  }

  /** Ends early, without an error, when the signal aborts. */
  async wait(signal: AbortSignal): Promise<void> {
    // Randomized, so that a hundred clients do not reconnect at the same moment.
    const ms = this.#nextMs * (0.75 + Math.random() / 2);
    this.#nextMs = Math.min(this.#nextMs * 2, longestMs);
    await delay(ms, undefined, { signal }).catch(() => null); // Aborted; the caller checks the signal.
  }
}
