/** What an upgrade is asked for, and what becomes of it. */

export interface UpgradeRequest {
  /** The program that is to take over, absolute. */
  readonly file: string;
  /** Its daemon, where that is not inside; empty otherwise. */
  readonly daemon: readonly string[];
}

export interface UpgradeOutcome {
  readonly from: string;
  readonly to: string;
  readonly totalMs: number;
  /** How long requests may have waited for the new daemon. */
  readonly heldMs: number;
  /** What was not done; null when everything was. */
  readonly fault: string | null;
}
