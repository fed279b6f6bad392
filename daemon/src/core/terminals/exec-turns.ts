/** Whose turn it is in a session: one after another, in the order of their arrival. */

export class Turns {
  readonly #waiting: (() => void)[] = [];
  #isTaken = false;

  get waiting(): number {
    return this.#waiting.length;
  }

  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** False when the signal aborts first. */
  async take(signal?: AbortSignal): Promise<boolean> {
    if (!this.#isTaken) {
      this.#isTaken = true;
      return true;
    }
    if (signal?.aborted) return false;
    return await new Promise((resolve) => {
      const take = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve(true);
      };
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(take), 1);
        resolve(false);
      };
      this.#waiting.push(take);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#isTaken = false;
  }
}
