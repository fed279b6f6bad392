/** Gives the event loop its turn in work that takes long. */

/** Work in one piece, in ms; an answer to somebody else waits no longer for it. */
const sliceMs = 2;

export class Slices {
  #sinceMs = performance.now();

  /** Null while there is time left in this slice; else a promise of the next one. */
  next(): Promise<void> | null {
    if (performance.now() - this.#sinceMs < sliceMs) return null;
    return new Promise((resolve) => {
      setImmediate(() => {
        this.#sinceMs = performance.now();
        resolve();
      });
    });
  }
}
