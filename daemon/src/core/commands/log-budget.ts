/** How much output may be kept in all, and what each stream may keep of it. */

export interface LogBudgetLimits {
  /** Of one stream. */
  readonly capBytes: number;
  /** Of all streams together. */
  readonly totalBytes: number;
}

const leastCapBytes = 1024 * 1024;
/** A command that starts may take this share of what is left, so that the next ones get something too. */
const shareOfRest = 4;

export class LogBudget {
  constructor(private readonly limits: LogBudgetLimits) {}

  get totalBytes(): number {
    return this.limits.totalBytes;
  }

  /** What ended commands may keep: half of it all, so that new ones always find room. */
  get endedBytes(): number {
    return Math.floor(this.limits.totalBytes / 2);
  }

  /** The cap of each stream of a command that starts while so much is kept. */
  capAtStart(keptBytes: number): number {
    const share = Math.floor((this.limits.totalBytes - keptBytes) / shareOfRest);
    return Math.min(this.limits.capBytes, Math.max(leastCapBytes, share));
  }

  /** What each stream of so many running commands may keep once all together keep too much. */
  fairCap(commands: number): number {
    return Math.max(leastCapBytes, Math.floor(this.endedBytes / (2 * Math.max(1, commands))));
  }
}
