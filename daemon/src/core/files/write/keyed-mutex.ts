/** Runs the changes of one file one after another, so that the content cannot change between reading and writing. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Starts `work` when all earlier work for this key has ended, even if it failed. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
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
