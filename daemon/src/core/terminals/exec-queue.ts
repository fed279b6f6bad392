/** The commands of one session: one at a time, in the order of their arrival, whatever becomes of their callers. */
import { randomBytes } from 'node:crypto';
import { CoreError } from '../../kit/errors.ts';
import { Deadline } from '../../kit/deadline.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import { Notifier } from '../../kit/notifier.ts';
import { Execution } from './exec.ts';
import { answerAtOnce, answerOf, consoleRecord, outcomeOf } from './exec-answer.ts';
import type { ExecLife } from './exec-life.ts';
import { Patience } from './exec-patience.ts';
import { ExecPrompt } from './exec-prompt.ts';
import { busy, tooMany } from './exec-refusal.ts';
import { addRecord, type ConsoleRecord, type ExecAnswer, type ExecDirectory, type ExecNote } from './exec-record.ts';
import { ExecShell, type ExecShellDeps } from './exec-shell.ts';
import { stopForeground } from './exec-stop.ts';
import { Turns } from './exec-turns.ts';
import { followText } from './plain-text.ts';
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
  /** Where it runs; absent is where the shell is. */
  readonly directory?: ExecDirectory | null;
  /** What it waits behind may be quiet for so long; absent is for ever. */
  readonly patienceMs?: number | null;
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
/** Shells that end, one after another, before they have begun a command. */
const mostShells = 3;

export class ExecQueue {
  readonly #shell: ExecShell;
  readonly #prompt: ExecPrompt;
  readonly #turns = new Turns();
  readonly #changes = new Notifier();
  #hasWaited = false;
  /** Whose turn it is, before it has begun. */
  #beginning: string | null = null;
  #current: Execution | null = null;
  #console: readonly ConsoleRecord[] = [];

  constructor(
    private readonly terminal: Terminal,
    private readonly deps: ExecQueueDeps,
    private readonly life: ExecLife,
  ) {
    this.#shell = new ExecShell(terminal, deps);
    this.#prompt = new ExecPrompt(terminal, this.#shell, life);
    terminal.isRestarted = () => this.#current !== null; // Be it that it dies behind the mark of the end.
  }

  /** Something that exec was asked for runs or is to run. */
  get isRunning(): boolean {
    return this.#turns.isTaken && (this.#turns.waiting > 0 || !this.#current?.end);
  }

  /** What has its turn; null while nothing has, and before it has begun. */
  get current(): Execution | null {
    return this.#current;
  }

  /** The command that has its turn. */
  get currentCommand(): string | null {
    return this.#beginning ?? this.#current?.command ?? null;
  }

  /** What was run in the session, the oldest first, with what the last one has printed so far. */
  get console(): readonly ConsoleRecord[] {
    const current = this.#current;
    return current?.isStarted === true ? addRecord(current.before, consoleRecord(current)) : this.#console;
  }

  /** Resolves when a command begins, ends or is not to begin, or when the signal aborts. */
  changed(signal: AbortSignal): Promise<void> {
    return this.#changes.wait(signal);
  }

  /** Resolves when a shell that was just made has its prompt, or seems to have none. */
  async ready(signal: AbortSignal): Promise<void> {
    const leftMs = this.terminal.record.createdMs + firstPromptMs - this.deps.now();
    if (leftMs <= 0 || this.#turns.isTaken || this.#hasWaited) return;
    using deadline = new Deadline(leftMs, signal);
    try {
      await this.#prompt.isThere(deadline.signal);
    } catch (error) {
      // It has ended, or is another daemon's: whoever uses it is told.
      if (!(error instanceof CoreError || error instanceof HandedOver)) throw error;
    }
  }

  /** Throws `terminal_ended`, `terminal_busy`, `unavailable`, `capacity_reached`, `no_space_left`. */
  async exec(spec: ExecSpec, signal: AbortSignal): Promise<ExecAnswer> {
    this.#assertRoom();
    using deadline = new Deadline(spec.timeoutMs, signal, this.life.ending);
    if (!spec.isAsync) return await this.#answer(await this.#begin(spec, deadline.signal), spec, deadline.signal);
    if (spec.onBusy === 'fail') await this.#begin(spec, deadline.signal);
    else
      this.#begin(spec, this.life.ending).catch((error: unknown) => this.deps.onFault('a command never began', error));
    return answerAtOnce(spec.command, this.#console);
  }

  /** The same, with what it prints as it comes. */
  async *stream(spec: ExecSpec, signal: AbortSignal): AsyncGenerator<string, ExecAnswer> {
    if (spec.isAsync) return await this.exec(spec, signal);
    this.#assertRoom();
    using deadline = new Deadline(spec.timeoutMs, signal, this.life.ending);
    const execution = await this.#begin(spec, deadline.signal);
    using following = new Deadline(null, deadline.signal);
    const answer = this.#answer(execution, spec, deadline.signal).finally(() => following[Symbol.dispose]());
    answer.catch(() => null); // Whoever asks for the answer is told.
    yield* followText(this.terminal.log, execution, following.signal);
    return await answer;
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
    const quietSinceMs = this.#current?.isStarted === true ? this.#current.changedMs : this.deps.now();
    using patience = new Patience(this.terminal, this.deps.now, spec.patienceMs ?? null, quietSinceMs);
    using wait = new Deadline(null, signal, leaving, patience.signal);
    try {
      await this.#takeTurn(spec.onBusy, wait.signal);
      return await this.#beginInTurn(spec, wait.signal);
    } catch (error) {
      throw leaving.aborted ? new HandedOver() : error; // It has not begun: it may, in the other daemon.
    }
  }

  async #beginInTurn(spec: ExecSpec, signal: AbortSignal): Promise<Execution> {
    this.#beginning = spec.command;
    try {
      await this.#waitForPrompt(spec.onBusy, signal);
      if (signal.aborted) throw busy(this.terminal);
      this.#hasWaited = true;
      const stopAtMs = spec.hardTimeoutMs === null ? null : this.deps.now() + spec.hardTimeoutMs;
      const { note, path, keys } = this.#prepare(spec, stopAtMs);
      const execution = new Execution(this.terminal, this.#shell, note, this.#console);
      this.#setCurrent(execution);
      void this.#drive(execution, () => this.#run(execution, spec, { path, keys }));
      return execution;
    } catch (error) {
      this.#leaveTurn();
      throw error;
    }
  }

  #prepare({ command, directory = null }: Pick<ExecSpec, 'command' | 'directory'>, stopAtMs: number | null): Prepared {
    const token = randomBytes(16).toString('hex');
    const script = this.#shell.prepare(command, token, directory);
    const { image } = this.#shell;
    const note = { token, command, from: this.terminal.log.refresh(), stopAtMs, image };
    this.deps.notes.save(this.terminal.id, note);
    return { note, ...script };
  }

  /** In this shell, or in the one after it when this one ends before it has begun. */
  async #run(execution: Execution, spec: ExecSpec, { path, keys }: Omit<Prepared, 'note'>): Promise<void> {
    await this.#start(execution, path, keys);
    for (let shells = 1; execution.isMissed && shells < mostShells && !this.#isLetGo(); shells++) {
      await this.#prompt.restarted();
      try {
        await this.#waitForPrompt('wait', this.life.ending);
        const next = this.#prepare(spec, execution.note.stopAtMs);
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
    this.#changes.notify();
    if (!(await this.#isOurs())) return;
    this.#remember(execution);
    this.terminal.currentCommand = null;
    await this.#prompt.settled();
    await this.#prompt.restarted();
    if (!(await this.#isOurs())) return;
    this.deps.notes.remove(this.terminal.id);
    this.#leaveTurn();
    this.terminal.touch();
  }

  #leaveTurn(): void {
    this.#setCurrent(null);
    this.#turns.release();
    this.#changes.notify();
  }

  async #stopInTime(execution: Execution): Promise<void> {
    const { stopAtMs } = execution.note;
    if (stopAtMs === null) return;
    using deadline = new Deadline(stopAtMs - this.deps.now(), this.life.ending);
    while (!execution.end && !deadline.passed) await execution.changed(deadline.signal);
    if (execution.end || this.#isLetGo()) return;
    execution.stoppedAs ??= 'hard_timeout';
    await stopForeground(this.terminal, execution, this.life.ending);
  }

  async #answer(execution: Execution, spec: ExecSpec, signal: AbortSignal): Promise<ExecAnswer> {
    const status = await outcomeOf(execution, spec.noChangeTimeoutMs, this.deps.now, signal);
    if (execution.failure) throw execution.failure;
    return answerOf(execution, status, spec.isTruncated);
  }

  #remember(execution: Execution): void {
    const { command, end } = execution;
    this.#console = addRecord(execution.before, consoleRecord(execution));
    this.terminal.lastExec = {
      command,
      status: end?.status ?? 'terminated',
      exitCode: end?.exitCode ?? null,
      console: this.#console,
    };
  }

  #setCurrent(execution: Execution | null): void {
    this.#current = execution;
    this.#beginning = null;
    this.terminal.currentCommand = execution?.command ?? null;
    this.#changes.notify();
    if (!execution) return;
    const before = this.#console;
    this.terminal.lastExec = { command: execution.command, status: 'running', exitCode: null, console: before };
  }

  /** In the order of arrival. Throws `terminal_busy` when it does not come in time, or is not to be waited for. */
  async #takeTurn(onBusy: ExecSpec['onBusy'], signal: AbortSignal): Promise<void> {
    if (onBusy === 'fail' && this.isRunning) throw busy(this.terminal);
    // One that has ended is only waited for until the shell has its next prompt.
    using deadline = new Deadline(onBusy === 'fail' ? promptMs : null, signal);
    if (!(await this.#turns.take(deadline.signal))) throw busy(this.terminal);
  }

  /** Throws `terminal_busy` when that takes longer than the caller waits, `terminal_ended`. */
  async #waitForPrompt(onBusy: ExecSpec['onBusy'], signal: AbortSignal): Promise<void> {
    const graceMs = this.#hasWaited ? promptMs : firstPromptMs;
    using deadline = new Deadline(onBusy === 'fail' ? graceMs : null, signal);
    if (!(await this.#prompt.isThere(deadline.signal))) throw busy(this.terminal);
  }

  #assertRoom(): void {
    this.#assertLiving();
    if (this.#turns.waiting >= mostWaiting) throw tooMany(this.terminal, mostWaiting);
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
