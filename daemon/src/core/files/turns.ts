/** Lets those who change one file take turns, so that what one has read is still so when it writes. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Begins `work` when all that came before it for this key have ended, however they did. */
  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const turn = before ? before.then(work, work) : work();
    this.#last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.#last.get(key) === turn) this.#last.delete(key);
    }
  }
}
