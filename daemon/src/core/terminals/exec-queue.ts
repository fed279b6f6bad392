/** The commands of one session: one at a time, in the order of their arrival, whatever becomes of their callers. */
import { randomBytes } from 'node:crypto';
import { CoreError } from '../../kit/errors.ts';
import { Deadline } from '../../kit/deadline.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import { Execution } from './exec.ts';
import type { ExecLife } from './exec-life.ts';
import { busy, tooMany } from './exec-refusal.ts';
import { addRecord, type ConsoleRecord, type ExecAnswer, type ExecNote, type ExecStatus } from './exec-record.ts';
import { ExecShell, type ExecShellDeps } from './exec-shell.ts';
import { stopForeground } from './exec-stop.ts';
import { Turns } from './exec-turns.ts';
import type { Terminal } from './terminal.ts';

export interface ExecSpec {
  readonly command: string;
  /** How long the caller waits; null is to the end. */
  readonly timeoutMs: number | null;
  /** When the command is stopped; null is never. */
  readonly hardTimeoutMs: number | null;
  /** How long it may be quiet before the caller is told; null is for ever. */
  readonly noChangeTimeoutMs: number | null;
  readonly isAsync: boolean;
  readonly isTruncated: boolean;
  readonly onBusy: 'wait' | 'fail';
}

/** What has the shell run a command, and what is noted of it. */
interface Prepared {
  readonly note: ExecNote;
  readonly path: string;
  readonly keys: string;
}

export interface ExecQueueDeps extends ExecShellDeps {
  /** Where what runs is written down for the next daemon. */
  readonly notes: {
    load(terminalId: string): ExecNote | null;
    save(terminalId: string, note: ExecNote): void;
    remove(terminalId: string): void;
  };
  readonly onFault: (what: string, error: unknown) => void;
}

const mostWaiting = 64;
/** A shell that has just been made reads its files first; later on it only has a prompt to print. */
const [firstPromptMs, promptMs] = [5000, 500];
const [firstLookMs, longestLookMs] = [1, 50];
const restartedWithinMs = 10_000;
/** Between the end of a command and the next prompt, or the end of the shell. */
const settledWithinMs = 10_000;
/** Shells that end, one after another, before they have begun a command. */
const mostShells = 3;

export class ExecQueue {
  readonly #shell: ExecShell;
  readonly #turns = new Turns();
  #hasWaited = false;
  #current: Execution | null = null;
  #console: readonly ConsoleRecord[] = [];

  constructor(
    private readonly terminal: Terminal,
    private readonly deps: ExecQueueDeps,
    private readonly life: ExecLife,
  ) {
    this.#shell = new ExecShell(terminal, deps);
    terminal.isRestarted = () => this.#current !== null; // Be it that it dies behind the mark of the end.
  }

  /** Throws `terminal_ended`, `terminal_busy`, `unavailable`, `capacity_reached`, `no_space_left`. */
  async exec(spec: ExecSpec, signal: AbortSignal): Promise<ExecAnswer> {
    this.#assertLiving();
    if (this.#turns.waiting >= mostWaiting) throw tooMany(this.terminal, mostWaiting);
    using deadline = new Deadline(spec.timeoutMs, signal, this.life.ending);
    if (!spec.isAsync) {
      const execution = await this.#begin(spec, deadline.signal);
      const status = await this.#outcome(execution, spec, deadline.signal);
      if (execution.failure) throw execution.failure;
      return this.#answer(execution, status, spec.isTruncated);
    }
    if (spec.onBusy === 'fail') this.#answer(await this.#begin(spec, deadline.signal), 'running', true);
    else
      this.#begin(spec, this.life.ending).catch((error: unknown) => this.deps.onFault('a command never began', error));
    return { command: spec.command, status: 'running', output: '', isTruncated: false, console: [], exitCode: null };
  }

  /** Goes on with what an earlier daemon had run. */
  resume(): void {
    const note = this.deps.notes.load(this.terminal.id);
    if (!note) return;
    void this.#turns.take(); // Nobody can have it yet.
    const execution = new Execution(this.terminal, this.#shell, note);
    this.#setCurrent(execution);
    void this.#drive(execution, () => execution.run(this.life.ending));
  }

  async #begin(spec: ExecSpec, signal: AbortSignal): Promise<Execution> {
    const { leaving } = this.life;
    using wait = new Deadline(null, signal, leaving);
    try {
      await this.#takeTurn(spec.onBusy, wait.signal);
      return await this.#beginInTurn(spec, wait.signal);
    } catch (error) {
      throw leaving.aborted ? new HandedOver() : error; // It has not begun: it may, in the other daemon.
    }
  }

  async #beginInTurn(spec: ExecSpec, signal: AbortSignal): Promise<Execution> {
    try {
      await this.#waitForPrompt(spec.onBusy, signal);
      if (signal.aborted) throw busy(this.terminal);
      this.#hasWaited = true;
      const stopAtMs = spec.hardTimeoutMs === null ? null : this.deps.now() + spec.hardTimeoutMs;
      const { note, path, keys } = this.#prepare(spec.command, stopAtMs);
      const execution = new Execution(this.terminal, this.#shell, note);
      this.#setCurrent(execution);
      void this.#drive(execution, () => this.#run(execution, path, keys));
      return execution;
    } catch (error) {
      this.#setCurrent(null);
      this.#turns.release();
      throw error;
    }
  }

  #prepare(command: string, stopAtMs: number | null): Prepared {
    const token = randomBytes(16).toString('hex');
    const script = this.#shell.prepare(command, token);
    const { image } = this.#shell;
    const note = { token, command, from: this.terminal.log.refresh(), stopAtMs, image };
    this.deps.notes.save(this.terminal.id, note);
    return { note, ...script };
  }

  /** In this shell, or in the one after it when this one ends before it has begun. */
  async #run(execution: Execution, path: string, keys: string): Promise<void> {
    await this.#start(execution, path, keys);
    for (let shells = 1; execution.isMissed && shells < mostShells && !this.#isLetGo(); shells++) {
      await this.#restarted();
      try {
        await this.#waitForPrompt('wait', this.life.ending);
        const next = this.#prepare(execution.command, execution.note.stopAtMs);
        execution.beginAgain(next.note);
        await this.#start(execution, next.path, next.keys);
      } catch (error) {
        if (this.#isLetGo()) return;
        if (!(error instanceof CoreError)) throw error;
        execution.fail(error);
      }
    }
    await execution.run(this.life.ending);
  }

  async #start(execution: Execution, path: string, keys: string): Promise<void> {
    try {
      await this.life.start(() => execution.start(keys, this.life.ending));
    } catch (error) {
      if (!(error instanceof HandedOver)) throw error; // Else the log tells, whoever writes it.
    } finally {
      this.#shell.discard(path);
    }
  }

  async #drive(execution: Execution, run: () => Promise<void>): Promise<void> {
    try {
      const stop = this.#stopInTime(execution);
      await run();
      await stop;
    } catch (error) {
      this.deps.onFault(`a command in ${this.terminal.id}`, error);
      execution.finish({ status: 'terminated', exitCode: null });
    }
    if (!(await this.#isOurs())) return;
    this.#remember(execution);
    this.terminal.currentCommand = null;
    await this.#settled();
    await this.#restarted();
    if (!(await this.#isOurs())) return;
    this.deps.notes.remove(this.terminal.id);
    this.#setCurrent(null);
    this.#turns.release();
    this.terminal.touch();
  }

  async #stopInTime(execution: Execution): Promise<void> {
    const { stopAtMs } = execution.note;
    if (stopAtMs === null) return;
    using deadline = new Deadline(stopAtMs - this.deps.now(), this.life.ending);
    while (!execution.end && !deadline.passed) await execution.changed(deadline.signal);
    if (!execution.end && !this.#isLetGo()) await stopForeground(this.terminal, execution, this.life.ending);
  }

  async #outcome(execution: Execution, spec: ExecSpec, signal: AbortSignal): Promise<ExecStatus> {
    const quietMs = spec.noChangeTimeoutMs;
    const quietSinceMs = () => (execution.isStarted ? execution.changedMs : this.deps.now());
    while (!execution.end && !signal.aborted) {
      const leftMs = quietMs === null ? null : quietSinceMs() + quietMs - this.deps.now();
      if (leftMs !== null && leftMs <= 0) return 'no_change_timeout';
      using look = new Deadline(leftMs, signal);
      await execution.changed(look.signal);
    }
    return execution.end?.status ?? 'running';
  }

  #answer(execution: Execution, status: ExecStatus, isTruncated: boolean): ExecAnswer {
    const { command, ps1, end } = execution;
    const { text, isTruncated: wasTruncated } = execution.output(isTruncated);
    return {
      command,
      status,
      output: text,
      isTruncated: wasTruncated,
      console: [{ ps1, command, output: text }],
      exitCode: end?.status === status && status === 'completed' ? end.exitCode : null,
    };
  }

  #remember(execution: Execution): void {
    const { command, ps1, end } = execution;
    this.#console = addRecord(this.#console, { command, ps1, output: execution.output(true).text });
    this.terminal.lastExec = {
      command,
      status: end?.status ?? 'terminated',
      exitCode: end?.exitCode ?? null,
      console: this.#console,
    };
  }

  #setCurrent(execution: Execution | null): void {
    this.#current = execution;
    this.terminal.currentCommand = execution?.command ?? null;
    if (!execution) return;
    const before = this.#console;
    this.terminal.lastExec = { command: execution.command, status: 'running', exitCode: null, console: before };
  }

  /** In the order of arrival. Throws `terminal_busy` when it does not come in time, or is not to be waited for. */
  async #takeTurn(onBusy: ExecSpec['onBusy'], signal: AbortSignal): Promise<void> {
    const isBusy = this.#turns.isTaken && (this.#turns.waiting > 0 || !this.#current?.end);
    if (onBusy === 'fail' && isBusy) throw busy(this.terminal);
    // One that has ended is only waited for until the shell has its next prompt.
    using deadline = new Deadline(onBusy === 'fail' ? promptMs : null, signal);
    if (!(await this.#turns.take(deadline.signal))) throw busy(this.terminal);
  }

  /** Throws `terminal_busy` when that takes longer than the caller waits, `terminal_ended`. */
  async #waitForPrompt(onBusy: ExecSpec['onBusy'], signal: AbortSignal): Promise<void> {
    const graceMs = this.#hasWaited ? promptMs : firstPromptMs;
    using deadline = new Deadline(onBusy === 'fail' ? graceMs : null, signal);
    for (let lookMs = firstLookMs; ; lookMs = Math.min(lookMs * 2, longestLookMs)) {
      this.#assertLiving();
      if (this.#shell.isWaiting()) return;
      if (deadline.passed) throw busy(this.terminal);
      this.terminal.log.watch();
      using look = new Deadline(lookMs, deadline.signal);
      await this.terminal.log.changed(look.signal);
    }
  }

  /** A command may be told to have ended right before its shell does: that end is one of the command too. */
  async #settled(): Promise<void> {
    using deadline = new Deadline(settledWithinMs, this.life.ending);
    for (let lookMs = firstLookMs; !deadline.passed; lookMs = Math.min(lookMs * 2, longestLookMs)) {
      // Somebody may have typed ahead: then there is a job before there is a prompt.
      if (this.terminal.end !== null || this.#shell.isWaiting() || this.terminal.hasJob) return;
      using look = new Deadline(lookMs, deadline.signal);
      await this.terminal.log.changed(look.signal);
    }
  }

  /** After a death: until another shell runs. */
  async #restarted(): Promise<void> {
    using deadline = new Deadline(restartedWithinMs, this.life.ending);
    while (this.terminal.end !== null && !this.terminal.isTerminated && !deadline.passed) {
      await this.terminal.log.changed(deadline.signal);
    }
  }

  #assertLiving(): void {
    void this.terminal.process; // Throws when there is none.
  }

  /** False when it is the next daemon's for good; that one may also give it back. */
  async #isOurs(): Promise<boolean> {
    while (this.#isLetGo() && !this.life.ending.aborted) await this.terminal.log.changed(this.life.ending);
    return !this.life.ending.aborted;
  }

  /** It is the next daemon's: this one only reads on, for those who wait here. */
  #isLetGo(): boolean {
    return this.life.ending.aborted || this.terminal.log.children.at(-1)?.isLetGo === true;
  }
}
