/** Gives the event loop its turn in work that takes long. */

/** Work in one piece, in ms; an answer to somebody else waits no longer for it. */
const sliceMs = 2;

/** Of one piece of work: all that it does shares the same slices. */
export class Slices {
  #startedMs = performance.now();

  /** True when it is somebody else's turn: `if (slices.isOver) await slices.pause()`. */
  get isOver(): boolean {
    return performance.now() - this.#startedMs >= sliceMs;
  }

  async pause(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#startedMs = performance.now();
  }

  /** Null while there is time left in this slice; else a promise of the next one. */
  next(): Promise<void> | null {
    return this.isOver ? this.pause() : null;
  }
}
