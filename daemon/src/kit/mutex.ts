/** Grants exclusive access to one caller at a time, in arrival order. */

export class Mutex {
  readonly #waiting: (() => void)[] = [];
  #isLocked = false;

  get waiting(): number {
    return this.#waiting.length;
  }

  get isLocked(): boolean {
    return this.#isLocked;
  }

  /** Waits for exclusive access until `release`; false if the signal aborts first. */
  async acquire(signal?: AbortSignal): Promise<boolean> {
    if (!this.#isLocked) {
      this.#isLocked = true;
      return true;
    }
    if (signal?.aborted) return false;
    return await new Promise((resolve) => {
      const acquire = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve(true);
      };
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(acquire), 1);
        resolve(false);
      };
      this.#waiting.push(acquire);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#isLocked = false;
  }
}
