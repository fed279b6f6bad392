/** Remembers kills of commands whose requests have not arrived yet, so that those requests start nothing. */

/** A request that takes longer to arrive than its kill is a request that waited for a connection. */
export const earlyKillMs = 60_000;
const maxKept = 1024;

interface EarlyKill {
  readonly signal: NodeJS.Signals;
  readonly untilMs: number;
}

export class EarlyKills {
  /** Oldest first. */
  readonly #byId = new Map<string, EarlyKill>();

  constructor(private readonly now: () => number) {}

  add(id: string, signal: NodeJS.Signals): void {
    this.#byId.delete(id);
    this.#byId.set(id, { signal, untilMs: this.now() + earlyKillMs });
    const [oldest] = this.#byId.keys();
    if (this.#byId.size > maxKept && oldest !== undefined) this.#byId.delete(oldest);
  }

  /** The signal of a kill; null when none arrived, or too long ago. */
  find(id: string): NodeJS.Signals | null {
    const kill = this.#byId.get(id);
    return kill && this.now() < kill.untilMs ? kill.signal : null;
  }

  delete(id: string): void {
    this.#byId.delete(id);
  }
}
