/** A bound on a wait: an abort signal that fires after some time, or when another one does. */

/** One for all: to make one, with the place in the code where it was made, is most of what an abort costs. */
const over = new DOMException('The wait is over', 'AbortError');

export class Deadline implements Disposable {
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #parents: readonly AbortSignal[];
  readonly #abort = () => this.#controller.abort(over);

  /** `afterMs` null waits for the parents alone. */
  constructor(afterMs: number | null, ...parents: readonly AbortSignal[]) {
    this.#parents = parents;
    for (const parent of parents) {
      if (parent.aborted) this.#abort();
      else parent.addEventListener('abort', this.#abort, { once: true });
    }
    // A timer of more than 2^31 ms fires at once in JavaScript; such a wait is as good as none.
    if (afterMs !== null && afterMs < 2 ** 31) this.#timer = setTimeout(this.#abort, Math.max(0, afterMs));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get passed(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Ends the wait, so that whoever still listens to the signal is let go. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    for (const parent of this.#parents) parent.removeEventListener('abort', this.#abort);
    this.#abort();
  }
}
