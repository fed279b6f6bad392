/** How long the commands of this daemon are its own: until it ends, or leaves its sessions to another one. */

/** A shell takes its line within milliseconds; one that does not is left in the middle of it. */
const leaveWithinMs = 500;

export class ExecLife {
  readonly #ending = new AbortController();
  #leaving = new AbortController();
  readonly #starts = new Set<Promise<unknown>>();

  /** Aborted when this daemon ends: what runs goes on, for the next one. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /** Aborted once nothing may begin here: another daemon is to have the sessions. */
  get leaving(): AbortSignal {
    return this.#leaving.signal;
  }

  /** Is waited for before anything is left to another daemon. */
  async start(begin: () => Promise<void>): Promise<void> {
    const start = begin();
    this.#starts.add(start);
    try {
      await start;
    } finally {
      this.#starts.delete(start);
    }
  }

  /** Resolves when no command is between its first key and its first mark. */
  async leave(): Promise<void> {
    this.#leaving.abort();
    const late = new Promise((resolve) => setTimeout(resolve, leaveWithinMs).unref());
    await Promise.race([Promise.allSettled(this.#starts), late]);
  }

  /** The other daemon has gone before it served. */
  stay(): void {
    this.#leaving = new AbortController();
  }

  end(): void {
    this.#ending.abort();
  }
}
