/** How long somebody waits behind what runs in a session while that shows nothing: it may never end. */
import { Deadline } from '../../kit/deadline.ts';
import type { Terminal } from './terminal.ts';

export class Patience implements Disposable {
  readonly #over = new AbortController();
  readonly #waiting = new Deadline(null);

  /** `sinceMs` is when it has shown something last; null waits for ever. */
  constructor(
    private readonly terminal: Terminal,
    private readonly now: () => number,
    quietMs: number | null,
    sinceMs: number,
  ) {
    if (quietMs !== null) void this.#watch(quietMs, sinceMs);
  }

  /** Aborts when the wait has been in vain for long enough. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  [Symbol.dispose](): void {
    this.#waiting[Symbol.dispose]();
  }

  async #watch(quietMs: number, sinceMs: number): Promise<void> {
    const { log } = this.terminal;
    let [seen, quietSinceMs] = [log.refresh(), sinceMs];
    while (!this.#waiting.passed) {
      const leftMs = quietSinceMs + quietMs - this.now();
      if (leftMs <= 0) {
        this.#over.abort();
        return;
      }
      log.watch();
      using look = new Deadline(leftMs, this.#waiting.signal);
      await log.changed(look.signal);
      const end = log.refresh();
      if (end === seen) continue;
      seen = end;
      quietSinceMs = this.now();
    }
  }
}
