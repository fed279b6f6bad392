/** Defines what a session knows of its commands: requests, answers and records. */

export const execStatuses = ['running', 'completed', 'no_change_timeout', 'hard_timeout', 'terminated'] as const;
export type ExecStatus = (typeof execStatuses)[number];
/** The status of the command itself, regardless of who waits for it. */
export type RunStatus = Exclude<ExecStatus, 'no_change_timeout'>;

export interface ConsoleRecord {
  /** The prompt as it was shown. */
  readonly ps1: string;
  readonly command: string;
  readonly output: string;
}

/** A command of the session and the console records up to it. */
export interface LastExec {
  readonly command: string;
  readonly status: RunStatus;
  readonly exitCode: number | null;
  readonly console: readonly ConsoleRecord[];
}

/** The directory of a command. */
export interface ExecDirectory {
  readonly path: string;
  /** True keeps symbolic links in the path. False resolves them. */
  readonly isLogical: boolean;
  /** True if the command must not run anywhere else. */
  readonly isRequired: boolean;
}

export interface ExecSpec {
  readonly command: string;
  /** How long the caller waits; null waits for the end. */
  readonly timeoutMs: number | null;
  /** How long the command may run before it is stopped; null means no limit. */
  readonly hardTimeoutMs: number | null;
  /** How long the command may be quiet before the caller gets an answer; null means no limit. */
  readonly noChangeTimeoutMs: number | null;
  readonly isAsync: boolean;
  readonly isTruncated: boolean;
  /** `failSoon` waits a moment for commands that are about to end. */
  readonly onBusy: 'wait' | 'fail' | 'failSoon';
  /** Where the command runs. Absent means the shell's current directory. */
  readonly directory?: ExecDirectory | null;
  /** How long the work ahead in the queue may be quiet. Absent means no limit. */
  readonly maxQuietAheadMs?: number | null;
}

export interface ExecAnswer {
  readonly command: string;
  readonly status: ExecStatus;
  readonly output: string;
  readonly isTruncated: boolean;
  /** The record of this command alone. */
  readonly console: readonly ConsoleRecord[];
  /** null unless the command ended on its own and reported its exit code. */
  readonly exitCode: number | null;
}

/** What the next daemon has to know about a running command. */
export interface ExecNote {
  readonly token: string;
  readonly command: string;
  /** The first offset in the output at which a mark of the command can be. */
  readonly from: number;
  /** Absent in notes of earlier daemons. */
  readonly startedMs?: number;
  /** When the command is stopped; null means never. */
  readonly stopAtMs: number | null;
  /** The program image of the shell that runs the command. */
  readonly image: string | null;
}

/** How many commands of a session are kept, and the limit for their characters in total. */
const maxRecords = 100;
const maxCharacters = 256 * 1024;

/** Adds a record and drops the oldest ones beyond the limits. */
export function addRecord(records: readonly ConsoleRecord[], record: ConsoleRecord): readonly ConsoleRecord[] {
  const kept = [...records, record].slice(-maxRecords);
  let characters = kept.reduce((sum, { command, output }) => sum + command.length + output.length, 0);
  while (kept.length > 1 && characters > maxCharacters) {
    const oldest = kept.shift();
    characters -= (oldest?.command.length ?? 0) + (oldest?.output.length ?? 0);
  }
  return kept;
}
