/** One run of code in a session: what it was asked, what it has shown, and how it ended. */
import { Notifier } from '../../kit/notifier.ts';
import { CellOutputs } from './cell-outputs.ts';
import type { CellEvent } from './events.ts';
import type { EnvironmentChanges } from '../identity/environment.ts';

/** As it is asked for. */
export interface CellRequest {
  readonly code: string;
  /** null leaves the session where it is. */
  readonly cwd: string | null;
  readonly env: EnvironmentChanges;
  readonly timeoutMs: number;
  /** It runs to the end of what it has put off, timers and sockets too, as a program does; its interpreter ends then. */
  readonly isProgram?: boolean;
}

/** Plain data, so that it can be kept in a file as it is. */
export interface CellRecord extends CellRequest {
  readonly id: string;
  readonly queuedMs: number;
}

export const cellStatuses = ['ok', 'error', 'timeout'] as const;
export type CellStatus = (typeof cellStatuses)[number];

/** An interpreter that has ended by itself, or was ended by anybody. */
export interface InterpreterDeath {
  /** Null when it has ended with an exit code. */
  readonly signal: number | null;
  readonly oomKilled: boolean | null;
}

export interface CellEnd {
  readonly status: CellStatus;
  readonly executionCount: number | null;
  readonly exitCode: number | null;
  readonly death: InterpreterDeath | null;
}

/** What is shown as an error that no code has raised. */
export interface Reason {
  readonly ename: string;
  readonly evalue: string;
}

export class Cell {
  readonly outputs = new CellOutputs();
  /** What another cell of the session has shown since its own end. */
  readonly late = new CellOutputs();
  /** When its code began to run; null while it waits for its turn. */
  startedMs: number | null = null;
  endedMs: number | null = null;
  end: CellEnd | null = null;
  /** Why it never ran. */
  failure: Error | null = null;
  /** It runs; until then it may be on its way to the interpreter. */
  hasBegun = false;
  /** Its end is that of an interrupt. */
  isTimedOut = false;
  /** Outputs may be missing. */
  isPartial = false;
  /** A session that was found dead when its turn came. */
  deathBefore: InterpreterDeath | null = null;
  readonly #changes = new Notifier();

  constructor(readonly record: CellRecord) {}

  get id(): string {
    return this.record.id;
  }

  get isOver(): boolean {
    return this.end !== null || this.failure !== null;
  }

  /** Why its code did not run in the directory asked for: each interpreter has these words for it; null when it did. */
  get directoryRefusal(): string | null {
    const { cwd } = this.record;
    if (cwd === null) return null;
    const words = `working directory ${cwd}: `;
    const told = this.outputs.all.find((one) => one.output_type === 'error' && one.evalue.startsWith(words));
    return told && 'evalue' in told ? told.evalue.slice(words.length) : null;
  }

  /** Resolves at the next change of anything above, or when the signal aborts. */
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
      // Its beginning may be what is lost.
      this.hasBegun = true;
      this.isPartial = true;
    } else if (event.kind !== 'end') {
      this.outputs.take(event);
    } else {
      this.isPartial ||= event.isPartial;
      const outcome = this.isTimedOut ? { status: 'timeout' as const, exitCode: null } : {};
      this.finish({ ...event, ...outcome, death: this.deathBefore }, nowMs);
    }
    this.#changes.notify();
  }

  /** The first end holds. */
  finish({ status, executionCount, exitCode, death }: CellEnd, nowMs: number): void {
    if (this.isOver) return;
    this.endedMs = nowMs;
    this.end = { status, executionCount, exitCode, death };
    this.#changes.notify();
  }

  fail(failure: Error): void {
    if (this.isOver) return;
    this.failure = failure;
    this.#changes.notify();
  }

  /** Ends it with an error that no code has raised. */
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
