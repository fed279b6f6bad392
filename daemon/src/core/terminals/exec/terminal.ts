/** Says what exec needs of the terminal session in whose shell the commands run. */
import type { ChildEnd } from '../../../platform/process/spawn.ts';
import type { ShellProcess } from '../backends/shell-process.ts';
import type { TerminalLog } from '../session/log.ts';
import type { TerminalSize } from '../../../kit/types/terminal-size.ts';

export interface ExecTerminal {
  readonly id: string;
  readonly record: { readonly user: string | null; readonly createdMs: number; readonly skipsStartUp?: boolean };
  readonly size: TerminalSize;
  readonly log: TerminalLog;
  /** Types after all earlier input. Throws `terminal_ended`. */
  readonly input: { type(bytes: Uint8Array, signal: AbortSignal): Promise<number> };
  /** The running process. Throws `terminal_ended`. */
  readonly process: ShellProcess;
  /** Pid of the shell; null once the shell has ended. */
  readonly pid: number | null;
  /** How the shell ended; null while it is alive. */
  readonly end: ChildEnd | null;
  readonly isTerminated: boolean;
  /** True if a process group other than the shell's has the foreground. */
  readonly hasJob: boolean;
  /** The command in the foreground; null when the shell waits for a line. */
  readonly foregroundCommand: string | null;
  touch(): void;
  /** Signals the foreground job. Throws `terminal_ended`, `forbidden`, `not_implemented`. */
  signal(signal: NodeJS.Signals): boolean;
  /** Ends a shell whose start-up files do not finish. The next shell starts without them. */
  startOver(): void;
}
