/** Sends what a person does in its order: one call at a time, and what has gathered meanwhile together. */

export class InputQueue<Action> {
  #waiting: Action[] = [];
  #isSending = false;

  /** `merge` returns one action for two neighbours, or null where they stay two. */
  constructor(
    private readonly send: (actions: readonly Action[]) => Promise<void>,
    private readonly merge: (earlier: Action, later: Action) => Action | null,
    private readonly onFailure: (error: unknown) => void,
  ) {}

  add(action: Action): void {
    const last = this.#waiting.at(-1);
    const merged = last === undefined ? null : this.merge(last, action);
    if (merged === null) this.#waiting.push(action);
    else this.#waiting[this.#waiting.length - 1] = merged;
    if (!this.#isSending) void this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    while (this.#waiting.length > 0) {
      const actions = this.#waiting;
      this.#waiting = [];
      try {
        await this.send(actions);
      } catch (error) {
        this.onFailure(error);
      }
    }
    this.#isSending = false;
  }
}
