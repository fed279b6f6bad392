/** The request for an upgrade, and its outcome. */

export interface UpgradeRequest {
  /** Absolute path of the program that takes over. */
  readonly file: string;
  /** The command line of its daemon when the daemon is not part of the file; empty otherwise. */
  readonly daemon: readonly string[];
}

export interface UpgradeOutcome {
  readonly from: string;
  readonly to: string;
  readonly totalMs: number;
  /** The longest time that requests may have waited for the new daemon. */
  readonly heldMs: number;
  /** The step that was not completed; null when all were. */
  readonly fault: string | null;
}

/** The init that has ended. */
export interface Stopped {
  readonly pid: number;
  /** The version of its daemon. */
  readonly version: string;
}
