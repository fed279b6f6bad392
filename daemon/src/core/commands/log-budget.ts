/** Limits how much output the daemon keeps in total and for each stream. */

export interface LogBudgetLimits {
  /** Limit for one stream. */
  readonly capBytes: number;
  /** Limit for all streams together. */
  readonly totalBytes: number;
}

const leastCapBytes = 1024 * 1024;
/** Divisor of the remaining budget for a new command, so that later commands get a share too. */
const shareOfRest = 4;

export class LogBudget {
  constructor(private readonly limits: LogBudgetLimits) {}

  get totalBytes(): number {
    return this.limits.totalBytes;
  }

  /** Budget for finished commands: half of the total, so that new commands always find room. */
  get endedBytes(): number {
    return Math.floor(this.limits.totalBytes / 2);
  }

  /** The cap for each stream of a command that starts now, given the bytes already kept. */
  capAtStart(keptBytes: number): number {
    const share = Math.floor((this.limits.totalBytes - keptBytes) / shareOfRest);
    return Math.min(this.limits.capBytes, Math.max(leastCapBytes, share));
  }

  /** The cap for each stream of the running commands when all logs together exceed the budget. */
  fairCap(commands: number): number {
    return Math.max(leastCapBytes, Math.floor(this.endedBytes / (2 * Math.max(1, commands))));
  }
}
