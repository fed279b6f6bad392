/** Describes the terminal session that a caller wants to open. */
import type { TerminalRecord } from './terminal.ts';
import type { TerminalSize } from '../../../kit/types/terminal-size.ts';

export interface NewTerminal extends Pick<
  TerminalRecord,
  'env' | 'user' | 'name' | 'noChangeTimeoutMs' | 'isTied' | 'isTransient'
> {
  /** An id chosen by the caller. An existing id returns its session. */
  readonly id: string | null;
  /** null means the workspace. An account that cannot enter the workspace starts in its home. */
  readonly cwd: string | null;
  readonly size: TerminalSize;
  /** null means persistent for a named session and expiring for an unnamed one. */
  readonly retention: TerminalRecord['retention'] | null;
  /** If the directory cannot be entered, the session starts in the home of its account. */
  readonly isCwdOptional?: boolean;
  /** The shell keeps the given path of its directory, with symbolic links unresolved. */
  readonly isCwdLogical?: boolean;
  /** False refuses the session rather than close an idle unnamed one for it. */
  readonly mayEvict?: boolean;
}

/** The values that a caller names. Others are not compared with those of an existing session. */
export interface RequestedTerminal extends Pick<NewTerminal, 'cwd' | 'env' | 'user' | 'retention'> {
  readonly cols: number | undefined;
  readonly rows: number | undefined;
  readonly noChangeTimeoutMs: number | null | undefined;
}
