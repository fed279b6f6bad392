/** Receives SIGHUP; a signal that arrives before the daemon knows what to do is kept. */

export class Hangups {
  #isPending = false;
  #heed = (): void => void (this.#isPending = true);

  constructor() {
    process.on('SIGHUP', () => this.#heed());
  }

  /** Resolves at the first signal. */
  first(): Promise<string> {
    return new Promise((resolve) => this.#follow(() => resolve('SIGHUP')));
  }

  /** Calls `work` at each signal, and never resolves. */
  each(work: () => void): Promise<never> {
    this.#follow(work);
    return new Promise(() => undefined);
  }

  #follow(work: () => void): void {
    this.#heed = work;
    if (this.#isPending) work();
  }
}
