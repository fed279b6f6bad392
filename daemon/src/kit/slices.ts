/** Divides long work into time slices, so that the event loop can run other work. */

/** Length of a slice in ms, which is also the longest delay for other requests. */
const sliceMs = 2;

/** One time slice per operation, shared by everything the operation does. */
export class TimeSlices {
  #startedMs = performance.now();

  /** True when other work should run: `if (slices.isOver) await slices.pause()`. */
  get isOver(): boolean {
    return performance.now() - this.#startedMs >= sliceMs;
  }

  async pause(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#startedMs = performance.now();
  }

  /** Null while time is left in this slice; otherwise a promise of the next slice. */
  next(): Promise<void> | null {
    return this.isOver ? this.pause() : null;
  }
}
