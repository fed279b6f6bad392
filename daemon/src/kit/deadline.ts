/** Bounds a wait: an abort signal that fires after a time or with another signal. */

/** Resolves when the signal aborts. For a signal that always aborts in the end, as that of a `Deadline` does. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** One shared exception: creating one with its stack trace is most of the cost of an abort. */
const over = new DOMException('The wait is over', 'AbortError');

export class Deadline implements Disposable {
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #parents: readonly AbortSignal[];
  readonly #abort = () => this.#controller.abort(over);

  /** With `afterMs` null, only the parents end the wait. */
  constructor(afterMs: number | null, ...parents: readonly AbortSignal[]) {
    this.#parents = parents;
    for (const parent of parents) {
      if (parent.aborted) this.#abort();
      else parent.addEventListener('abort', this.#abort, { once: true });
    }
    // JavaScript fires a timer of more than 2^31 ms at once, so such a wait has no timer.
    if (afterMs !== null && afterMs < 2 ** 31) this.#timer = setTimeout(this.#abort, Math.max(0, afterMs));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get passed(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Ends the wait, and so releases every remaining listener of the signal. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    for (const parent of this.#parents) parent.removeEventListener('abort', this.#abort);
    this.#abort();
  }
}
