/** An event for one waiter. A `set` while nothing waits is kept for the next wait, so no change is missed. */

export class AutoResetEvent {
  #isSet = false;
  #resume: (() => void) | null = null;

  readonly set = (): void => {
    this.#isSet = true;
    this.#resume?.();
  };

  /** Resolves once the event is set, and resets it. */
  async wait(): Promise<void> {
    if (!this.#isSet) await new Promise<void>((resolve) => (this.#resume = resolve));
    this.#isSet = false;
    this.#resume = null;
  }
}
