/** Wakes everything that waits for the next change of some state. */
export class Changes {
  readonly #waiting: (() => void)[] = [];

  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  notify(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
