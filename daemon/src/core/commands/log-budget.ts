/** How much output may be kept in all: what running commands may still write is reserved when they start. */

const leastCapBytes = 1024 * 1024;
/** A command gets this share of what is left for each stream, so that the next ones get something too. */
const shareOfRest = 8;

export interface LogBudgetLimits {
  /** Of one stream. */
  readonly capBytes: number;
  /** Of all streams together. */
  readonly totalBytes: number;
}

export class LogBudget {
  #reserved = 0;

  constructor(private readonly limits: LogBudgetLimits) {}

  /** The cap of each stream of a command that starts now; given back with `release`. */
  reserve(streams: number, keptBytes: number): number {
    const rest = Math.max(0, this.limits.totalBytes - this.#reserved - keptBytes);
    const capBytes = Math.min(this.limits.capBytes, Math.max(leastCapBytes, Math.floor(rest / shareOfRest)));
    this.#reserved += capBytes * streams;
    return capBytes;
  }

  release(streams: number, capBytes: number): void {
    this.#reserved -= capBytes * streams;
  }

  /** What ended commands may keep: half of it all, so that new ones always find room. */
  get endedBytes(): number {
    return Math.floor(this.limits.totalBytes / 2);
  }
}
