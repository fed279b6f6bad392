/** One run of code in a session: the request, the outputs and the end. */
import type { ChildEnd } from '../../../platform/process/spawn.ts';
import { Notifier } from '../../../kit/events/notifier.ts';
import { recordedText } from '../../../kit/text/text.ts';
import { CellOutputs } from './outputs.ts';
import type { CellEvent } from './events.ts';
import type { EnvironmentChanges } from '../../processes/environment.ts';

export interface CellRequest {
  readonly code: string;
  /** null keeps the current directory of the session. */
  readonly cwd: string | null;
  readonly env: EnvironmentChanges;
  /** Variables of this cell only. Behind the cell, the interpreter gives each one the value that it had before. */
  readonly cellEnv?: EnvironmentChanges | undefined;
  /** A program in Python. It adds media types to what an interpreter of Python shows from this cell on. */
  readonly formats?: string | undefined;
  readonly timeoutMs: number;
}

/** Plain data that is stored in a file without conversion. */
export interface CellRecord extends CellRequest {
  readonly id: string;
  readonly queuedMs: number;
  /** The interpreter ends with the cell, as a program does: after its threads, timers, sockets and exit functions. */
  readonly isProgram?: boolean;
}

export const cellStatuses = ['ok', 'error', 'timeout'] as const;
export type CellStatus = (typeof cellStatuses)[number];

/** How the interpreter of a session ended, and its state with it. */
export interface InterpreterDeath {
  /** `exited`: its code asked for that. `timeout`: it did not react to the interrupt. `idle`: no client used it. */
  readonly cause: 'died' | 'exited' | 'timeout' | 'idle';
  /** Null when the interpreter ended with an exit code. */
  readonly signal: number | null;
  readonly oomKilled: boolean | null;
}

export const exited: InterpreterDeath = { cause: 'exited', signal: null, oomKilled: false };

export interface CellEnd {
  readonly status: CellStatus;
  readonly executionCount: number | null;
  readonly exitCode: number | null;
  readonly death: InterpreterDeath | null;
}

/** An error shown in the outputs that no code has raised. */
export interface Reason {
  readonly ename: string;
  readonly evalue: string;
}

export class Cell {
  readonly outputs = new CellOutputs();
  /** Outputs that an earlier cell of the session produced after its own end. */
  readonly late = new CellOutputs();
  /** When the code began to run; null while the cell waits in the queue. */
  startedMs: number | null = null;
  endedMs: number | null = null;
  end: CellEnd | null = null;
  /** Why the requested directory could not be entered, so that the code did not run. */
  cwdError: string | null = null;
  /** Why the cell never ran. */
  failure: Error | null = null;
  /** True once the cell runs. Before that, the cell may be on its way to the interpreter. */
  hasBegun = false;
  /** True once the code of a program has run, while what the code started goes on. */
  isEnding = false;
  /** True when the timeout of the cell ended it. */
  isTimedOut = false;
  /** True when outputs may be missing. */
  isPartial = false;
  /** Death of the previous interpreter between two cells. This cell then ran in a new interpreter without the state. */
  deathBefore: InterpreterDeath | null = null;
  /** How the code of a program ended. The cell is over when its interpreter is. */
  #outcome: CellEnd | null = null;
  readonly #changes = new Notifier();

  #record: CellRecord;
  /** The code as a record of the session shows it. */
  readonly shownCode: string;

  constructor(record: CellRecord) {
    this.#record = record;
    this.shownCode = recordedText(record.code);
  }

  /** The request. Once the cell is over, the code is `shownCode`. */
  get record(): CellRecord {
    return this.#record;
  }

  get id(): string {
    return this.record.id;
  }

  get isProgram(): boolean {
    return this.record.isProgram === true;
  }

  get isOver(): boolean {
    return this.end !== null || this.failure !== null;
  }

  /** Resolves at the next change of the cell, or when the signal aborts. */
  changed(signal?: AbortSignal): Promise<void> {
    return this.#changes.wait(signal);
  }

  async finished(signal: AbortSignal): Promise<void> {
    while (!this.isOver && !signal.aborted) await this.changed(signal);
  }

  take(event: CellEvent, nowMs: number): void {
    if (event.kind === 'begin') {
      this.startedMs ??= nowMs;
      this.hasBegun = true;
    } else if (event.kind === 'gap') {
      // The lost events may include the begin event.
      this.hasBegun = true;
      this.isPartial = true;
    } else if (event.kind === 'ending') {
      this.isEnding = true;
    } else if (event.kind !== 'end') {
      this.outputs.take(event);
    } else {
      this.isPartial ||= event.isPartial;
      this.cwdError = event.cwdError;
      const { status, executionCount, exitCode } = event;
      this.#outcome = { status, executionCount, exitCode, death: event.isExiting && !this.isProgram ? exited : null };
      if (event.isPending && this.isProgram) this.isEnding ||= !this.isTimedOut;
      else this.settle(nowMs);
    }
    this.#changes.notify();
  }

  /** The interpreter of a program has ended. False when it ended in the middle of the code. */
  endWith(end: ChildEnd, nowMs: number): boolean {
    const exitCode = end.kind === 'exited' ? end.exitCode : 0;
    if (this.isTimedOut) this.#outcome ??= { status: 'timeout', executionCount: null, exitCode: null, death: null };
    else if (this.#outcome?.status === 'ok' && exitCode === null) return false;
    else if (this.#outcome?.status === 'ok' && exitCode !== 0) {
      // An exit function has failed, or has chosen another exit code.
      this.abandon(
        { ename: 'Exit', evalue: `the program ended with exit code ${exitCode}` },
        { exitCode, death: null },
        nowMs,
      );
      return true;
    }
    return this.settle(nowMs);
  }

  /** Records the end of the code as the end of the cell. False when the code has not ended. */
  settle(nowMs: number): boolean {
    if (this.#outcome === null) return false;
    const outcome = this.isTimedOut ? { status: 'timeout' as const, exitCode: null } : {};
    this.finish({ ...this.#outcome, ...outcome }, nowMs);
    return true;
  }

  /** Records the end. Later calls have no effect. */
  finish({ status, executionCount, exitCode, death }: CellEnd, nowMs: number): void {
    if (this.isOver) return;
    this.endedMs = nowMs;
    this.end = { status, executionCount, exitCode, death };
    this.#forgetCode();
    this.#changes.notify();
  }

  fail(failure: Error): void {
    if (this.isOver) return;
    this.failure = failure;
    this.#forgetCode();
    this.#changes.notify();
  }

  /** The session keeps its last cell, whose code may be large. */
  #forgetCode(): void {
    this.#record = { ...this.#record, code: this.shownCode };
  }

  /** Ends the cell with an error that no code has raised. */
  abandon({ ename, evalue }: Reason, end: Pick<CellEnd, 'exitCode' | 'death'>, nowMs: number): void {
    if (this.isOver) return;
    this.outputs.take({
      kind: 'output',
      output: { output_type: 'error', ename, evalue, traceback: [`${ename}: ${evalue}`] },
      displayId: null,
    });
    this.finish({ ...end, status: 'error', executionCount: null }, nowMs);
  }
}
