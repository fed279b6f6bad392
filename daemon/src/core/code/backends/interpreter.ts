/** Defines what runs the cells of one session: an interpreter of the image or a kernel. */
import type { EncodedText } from '../../../kit/text/encoded-text.ts';
import type { Ownership } from '../../../kit/ownership.ts';
import type { ChildEnd } from '../../../platform/process/spawn.ts';
import type { CellEvent } from '../cells/events.ts';
import type { CellRecord } from '../cells/cell.ts';
import type { CodeBackendName } from '../language.ts';

/** A cell that is ready to be sent. */
export interface Submission {
  /** Position in the input after the cell. Input received up to here contains the whole cell. */
  readonly end: number;
  /** Rejects when the interpreter does not accept the cell. */
  send(): Promise<void>;
}

export interface LogPosition {
  /** The id of the process. */
  readonly log: string;
  readonly offset: number;
}

/** For an interpreter that is not a process on this machine. No keeper owns it. */
export interface Elsewhere {
  /** The id under which the next daemon connects to the interpreter. */
  readonly nextId: string;
}

export interface Interpreter {
  readonly id: string;
  readonly backend: CodeBackendName;
  /** Version of the language, for example `3.12.1`. */
  readonly version: string;
  /** null when the interpreter runs on another machine or has ended. */
  readonly pid: number | null;
  /** null while the interpreter lives. */
  readonly end: ChildEnd | null;
  /** True after its own code asked it to exit. It accepts no more cells, and its end is not reported as a death. */
  readonly isLeaving: boolean;
  /** Once the interpreter is left to another daemon, this daemon only reads its events. */
  readonly ownership: Ownership;
  /** Resolves when the interpreter has sent an event or has ended, or when the signal aborts. */
  changed(signal?: AbortSignal): Promise<void>;
  /** Starts to pass cell events to `onCell`, including events of cells that have ended. */
  listen(onCell: (cell: string, event: CellEvent) => void): void;
  /** Prepares a cell with its encoded code for sending. The cell runs after the earlier cells. */
  submit(cell: CellRecord, code: EncodedText): Submission;
  /** Resumes after another daemon had the process and ended before it served. */
  resumeInput?(): void;
  /** Whether a cell that ends at this position has arrived. Used after a restart of the daemon. */
  hasTaken(end: number): boolean;
  /** Interrupts like Ctrl-C. */
  interrupt(): Promise<void>;
  /** Minimum time between two interrupts, because one can hit the code that reports the previous interrupt. */
  readonly interruptAgainMs: number;
  /** Ends the running cell before `leave`. Without this method, an interrupt does. */
  endCell?(): Promise<void>;
  /** Asks the interpreter to end by itself, as a program does. It accepts no more cells. */
  leave(): Promise<void>;
  /** Ends the interpreter with all its child processes at once, and forgets it. */
  close(): Promise<void>;
  readonly elsewhere?: Elsewhere;
  /** After a restart, the daemon reads the output again from this position. */
  readonly position: LogPosition;
}

/** Runs a cell, in the words of the interpreters of the image and of the bridge. */
export function executeRequest({ id, code, cwd, env, cellEnv, formats, isProgram = false }: CellRecord) {
  return { op: 'execute', cell: id, code, cwd, env, lent: cellEnv, formats, program: isProgram };
}
