/** What is told of a command that was run in a session. */

export const execStatuses = ['running', 'completed', 'no_change_timeout', 'hard_timeout', 'terminated'] as const;
export type ExecStatus = (typeof execStatuses)[number];
/** Of the command itself, whoever waits for it. */
export type RunStatus = Exclude<ExecStatus, 'no_change_timeout'>;

export interface ConsoleRecord {
  /** The prompt as it was shown. */
  readonly ps1: string;
  readonly command: string;
  readonly output: string;
}

/** Of the session: the last command, and those before it. */
export interface LastExec {
  readonly command: string;
  readonly status: RunStatus;
  readonly exitCode: number | null;
  readonly console: readonly ConsoleRecord[];
}

/** Where a command is to run. */
export interface ExecDirectory {
  readonly path: string;
  /** The path stays as it was given, with the links in it; else it is the one behind them. */
  readonly isLogical: boolean;
  /** The command does not run anywhere else. */
  readonly isRequired: boolean;
}

export interface ExecAnswer {
  readonly command: string;
  readonly status: ExecStatus;
  readonly output: string;
  readonly isTruncated: boolean;
  readonly console: readonly ConsoleRecord[];
  /** Those that were run in the session before it. */
  readonly before: readonly ConsoleRecord[];
  /** null unless it ended by itself, and told with what. */
  readonly exitCode: number | null;
}

/** What the next daemon has to know of one that runs. */
export interface ExecNote {
  readonly token: string;
  readonly command: string;
  /** Where in the output its first mark may be. */
  readonly from: number;
  /** When it is to be stopped; null is never. */
  readonly stopAtMs: number | null;
  /** Of the shell that runs it. */
  readonly image: string | null;
}

/** Commands of one session that are kept, and characters of all of them. */
const mostRecords = 100;
const mostCharacters = 256 * 1024;

/** With one more: the oldest ones go. */
export function addRecord(records: readonly ConsoleRecord[], record: ConsoleRecord): readonly ConsoleRecord[] {
  const kept = [...records, record].slice(-mostRecords);
  let characters = kept.reduce((sum, { command, output }) => sum + command.length + output.length, 0);
  while (kept.length > 1 && characters > mostCharacters) {
    const oldest = kept.shift();
    characters -= (oldest?.command.length ?? 0) + (oldest?.output.length ?? 0);
  }
  return kept;
}
