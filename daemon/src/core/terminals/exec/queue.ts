/** Runs the commands of one session one at a time, in arrival order, even if a caller disconnects. */
import { randomBytes } from '../../../kit/crypto.ts';
import { CoreError } from '../../../kit/errors.ts';
import { Deadline } from '../../../kit/deadline.ts';
import { HandedOver } from '../../../kit/handed-over.ts';
import { Mutex } from '../../../kit/mutex.ts';
import { Notifier } from '../../../kit/events/notifier.ts';
import type { Ownership } from '../../../kit/ownership.ts';
import { recordedText } from '../../../kit/text/text.ts';
import { Execution } from './execution.ts';
import { followText } from './output.ts';
import {
  addRecord,
  type ConsoleRecord,
  type ExecAnswer,
  type ExecNote,
  type ExecSpec,
  type LastExec,
} from './record.ts';
import { ExecShell, type ExecShellDeps } from './shell.ts';
import { assertLinux } from '../linux-only.ts';
import type { ExecTerminal } from './terminal.ts';

/** The script and keys that make the shell run a command, and the note about it. */
interface Prepared {
  readonly note: ExecNote;
  readonly path: string;
  readonly keys: string;
}

export interface ExecQueueDeps extends ExecShellDeps {
  /** Stores the running command for the next daemon. */
  readonly notes: {
    load(terminalId: string): ExecNote | null;
    save(terminalId: string, note: ExecNote): void;
    remove(terminalId: string): void;
  };
  readonly platform: NodeJS.Platform;
  readonly ownership: Ownership;
  /** Aborted when this daemon exits. Running commands continue for the next daemon. */
  readonly closing: AbortSignal;
  readonly onFault: (what: string, error: unknown) => void;
}

const maxWaiting = 64;
/** A new shell reads its start-up files first. Later it only has to print a prompt. */
const promptMs = 500;
/** How long `failSoon` waits for its turn. */
const soonMs = 1000;
/** A finished command keeps its turn only until the shell shows its next prompt. */
const turnMs = { wait: null, fail: promptMs, failSoon: soonMs } as const;
/** For a shell that starts again without its start-up files. */
const startOverMs = 3000;
/** How many shells in a row may end before they begin the command. */
const maxShells = 3;

export class ExecQueue {
  readonly #shell: ExecShell;
  readonly #turn = new Mutex();
  readonly #changes = new Notifier();
  #hasWaited = false;
  /** The command whose turn it is, until it begins. */
  #beginning: string | null = null;
  #current: Execution | null = null;
  /** True between the first key of a command and its first mark. */
  #isStarting = false;
  /** The last command that has given its turn back. */
  #last: LastExec | null = null;

  constructor(
    private readonly terminal: ExecTerminal,
    private readonly deps: ExecQueueDeps,
  ) {
    this.#shell = new ExecShell(terminal, deps);
  }

  /** True if an exec command runs or waits. */
  get isRunning(): boolean {
    return this.#turn.isLocked && (this.#turn.waiting > 0 || !this.#current?.end);
  }

  /**
   * The execution whose turn it is; null if there is none, or if it has not begun yet. A finished execution keeps its
   * turn until the shell shows its next prompt, because the shell may exit right after printing the end mark.
   */
  get current(): Execution | null {
    return this.#current;
  }

  /** The command that was typed and has not ended. */
  get runningCommand(): string | null {
    return this.#current && !this.#current.end ? this.#current.command : null;
  }

  /** The command whose turn it is. */
  get currentCommand(): string | null {
    return this.#beginning ?? this.#current?.command ?? null;
  }

  /** The execution whose turn it is, or else the last one; null before any. */
  get last(): LastExec | null {
    if (!this.#current) return this.#last;
    const { command, end } = this.#current;
    const console = end ? this.console : (this.#last?.console ?? []);
    return { command, status: end?.status ?? 'running', exitCode: end?.exitCode ?? null, console };
  }

  /** The commands run in the session, oldest first, including the output so far of the current one. */
  get console(): readonly ConsoleRecord[] {
    const before = this.#last?.console ?? [];
    const current = this.#current;
    return current && (current.isStarted || current.end) ? addRecord(before, current.record) : before;
  }

  /** Resolves when a command begins, ends or is cancelled, or when the signal aborts. */
  changed(signal: AbortSignal): Promise<void> {
    return this.#changes.wait(signal);
  }

  /** Resolves when no command is between its first key and its first mark, or when the signal aborts. */
  async started(signal: AbortSignal): Promise<void> {
    while (this.#isStarting && !signal.aborted) await this.changed(signal);
  }

  /** Resolves when a new shell shows its prompt, or when its start-up time has passed. */
  async ready(signal: AbortSignal): Promise<void> {
    const leftMs = this.terminal.record.createdMs + this.deps.startUpMs - this.deps.now();
    if (leftMs <= 0 || this.#turn.isLocked || this.#hasWaited) return;
    using deadline = new Deadline(leftMs, signal);
    try {
      await this.#shell.prompt(deadline.signal, { startsOver: false });
    } catch (error) {
      // The shell has ended, or belongs to another daemon. The next call that uses the session reports this.
      if (!(error instanceof CoreError || error instanceof HandedOver)) throw error;
    }
  }

  /** Throws `terminal_ended`, `terminal_busy`, `unavailable`, `capacity_reached`, `no_space_left`, `not_implemented`. */
  async run(spec: ExecSpec, signal: AbortSignal): Promise<ExecAnswer> {
    this.#assertRoom();
    using deadline = new Deadline(spec.timeoutMs, signal, this.deps.closing);
    if (!spec.isAsync) return await this.#answer(await this.#begin(spec, deadline.signal), spec, deadline.signal);
    if (spec.onBusy === 'fail') await this.#begin(spec, deadline.signal);
    else
      this.#begin(spec, this.deps.closing).catch((error: unknown) => this.deps.onFault('a command never began', error));
    const { command } = spec;
    return { command, status: 'running', output: '', isTruncated: false, console: [], exitCode: null };
  }

  /** Like `run`, but also streams the output as it arrives. */
  async *stream(spec: ExecSpec, signal: AbortSignal): AsyncGenerator<string, ExecAnswer> {
    if (spec.isAsync) return await this.run(spec, signal);
    this.#assertRoom();
    using deadline = new Deadline(spec.timeoutMs, signal, this.deps.closing);
    const execution = await this.#begin(spec, deadline.signal);
    using following = new Deadline(null, deadline.signal);
    const answer = this.#answer(execution, spec, deadline.signal).finally(() => following[Symbol.dispose]());
    answer.catch(() => null); // The caller that awaits the answer gets the error.
    yield* followText(this.terminal.log, execution, following.signal);
    return await answer;
  }

  /** Resumes the command that an earlier daemon was running. */
  resume(): void {
    const note = this.deps.notes.load(this.terminal.id);
    if (!note) return;
    void this.#turn.acquire(); // The queue is still empty, so this succeeds at once.
    const execution = new Execution(this.terminal, this.#shell, note);
    this.#setCurrent(execution);
    void this.#drive(execution, () => execution.run(this.deps.closing));
  }

  async #begin(spec: ExecSpec, signal: AbortSignal): Promise<Execution> {
    const { leaving } = this.deps.ownership;
    const quietSinceMs = this.#current?.isStarted === true ? this.#current.changedMs : this.deps.now();
    using wait = new Deadline(null, signal, leaving);
    if (typeof spec.maxQuietAheadMs === 'number') {
      const silence = this.#shell.silence(spec.maxQuietAheadMs, quietSinceMs, wait.signal);
      void silence.then(() => wait[Symbol.dispose]());
    }
    try {
      await this.#takeTurn(spec.onBusy, wait.signal);
      return await this.#beginInTurn(spec, wait.signal);
    } catch (error) {
      // The command has not begun, so the other daemon may run it.
      throw leaving.aborted ? new HandedOver({ terminalId: this.terminal.id }) : error;
    }
  }

  async #beginInTurn(spec: ExecSpec, signal: AbortSignal): Promise<Execution> {
    this.#beginning = spec.command;
    try {
      await this.#waitForPrompt(spec.onBusy, signal);
      if (signal.aborted) throw this.#busy();
      this.#hasWaited = true;
      const stopAtMs = spec.hardTimeoutMs === null ? null : this.deps.now() + spec.hardTimeoutMs;
      const { note, path, keys } = this.#prepare(spec, stopAtMs);
      const execution = new Execution(this.terminal, this.#shell, note);
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
    const note = {
      token,
      command: recordedText(command),
      from: this.terminal.log.refresh(),
      startedMs: this.deps.now(),
      stopAtMs,
      image,
    };
    this.deps.notes.save(this.terminal.id, note);
    return { note, ...script };
  }

  /** Runs the command in this shell, or in its successor if this shell ends before the command begins. */
  async #run(execution: Execution, spec: ExecSpec, { path, keys }: Omit<Prepared, 'note'>): Promise<void> {
    await this.#start(execution, path, keys);
    for (let shells = 1; execution.isMissed && shells < maxShells && !this.#isLeft(); shells++) {
      await this.#shell.restarted(this.deps.closing);
      try {
        await this.#waitForPrompt('wait', this.deps.closing);
        const next = this.#prepare(spec, execution.note.stopAtMs);
        execution.beginAgain(next.note);
        await this.#start(execution, next.path, next.keys);
      } catch (error) {
        if (this.#isLeft()) return;
        if (!(error instanceof CoreError)) throw error;
        execution.fail(error);
      }
    }
    await execution.run(this.deps.closing);
  }

  async #start(execution: Execution, path: string, keys: string): Promise<void> {
    this.#isStarting = true;
    try {
      await execution.start(keys, this.deps.closing);
    } catch (error) {
      // After a handover, the output log shows whether the command began.
      if (!(error instanceof HandedOver)) throw error;
    } finally {
      this.#isStarting = false;
      this.#changes.notify();
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
    await this.#shell.settled(this.deps.closing);
    await this.#shell.restarted(this.deps.closing);
    if (!(await this.#isOurs())) return;
    this.deps.notes.remove(this.terminal.id);
    this.#leaveTurn();
    this.terminal.touch();
  }

  #leaveTurn(): void {
    this.#last = this.last;
    this.#setCurrent(null);
    this.#turn.release();
    this.#changes.notify();
  }

  async #stopInTime(execution: Execution): Promise<void> {
    const { stopAtMs } = execution.note;
    if (stopAtMs === null) return;
    using deadline = new Deadline(stopAtMs - this.deps.now(), this.deps.closing);
    while (!execution.end && !deadline.passed) await execution.changed(deadline.signal);
    if (execution.end || this.#isLeft()) return;
    await execution.stop('hard_timeout', this.deps.closing);
  }

  async #answer(execution: Execution, spec: ExecSpec, signal: AbortSignal): Promise<ExecAnswer> {
    return execution.answer(await execution.outcome(spec.noChangeTimeoutMs, signal), spec.isTruncated);
  }

  #setCurrent(execution: Execution | null): void {
    this.#current = execution;
    this.#beginning = null;
    this.#changes.notify();
  }

  /** Throws `terminal_busy` if the turn does not come in time, or if the caller does not want to wait. */
  async #takeTurn(onBusy: ExecSpec['onBusy'], signal: AbortSignal): Promise<void> {
    if (onBusy === 'fail' && this.isRunning) throw this.#busy();
    using deadline = new Deadline(turnMs[onBusy], signal);
    if (!(await this.#turn.acquire(deadline.signal))) throw this.#busy();
  }

  /** Throws `terminal_busy` if the prompt takes longer than the caller waits, and `terminal_ended`. */
  async #waitForPrompt(onBusy: ExecSpec['onBusy'], signal: AbortSignal): Promise<void> {
    const graceMs = this.#hasWaited ? promptMs : this.deps.startUpMs + startOverMs;
    using deadline = new Deadline(onBusy === 'wait' ? null : graceMs, signal);
    if (!(await this.#shell.prompt(deadline.signal, { startsOver: true }))) throw this.#busy();
  }

  /** A command that a person typed has no known start. */
  #busy(): CoreError {
    const startedMs = this.runningCommand === null ? null : (this.#current?.note.startedMs ?? null);
    return busy(this.terminal, startedMs);
  }

  #assertRoom(): void {
    assertLinux(this.deps.platform, 'exec');
    void this.terminal.process; // Throws if the shell has ended.
    if (this.#turn.waiting >= maxWaiting) throw tooMany(this.terminal);
  }

  /** Waits while the next daemon may still give the session back; false once the session is gone for good. */
  async #isOurs(): Promise<boolean> {
    while (this.#isLeft() && !this.deps.closing.aborted) await this.terminal.log.changed(this.deps.closing);
    return !this.deps.closing.aborted;
  }

  /** True if the next daemon owns the session. This daemon then only reads, for callers that still wait here. */
  #isLeft(): boolean {
    return this.deps.closing.aborted || this.deps.ownership.isLeft;
  }
}

function busy({ id, foregroundCommand: what }: ExecTerminal, sinceMs: number | null): CoreError {
  const since = sinceMs === null ? '' : ` since ${new Date(sinceMs).toISOString()}`;
  const reason = what === null ? 'is busy' : `runs ${JSON.stringify(what.slice(0, 80))}${since}`;
  return new CoreError('terminal_busy', `session ${id} ${reason}; the command did not begin`, {
    hint: 'Wait longer, or use another session.',
    next: { operation: 'terminals.interrupt', id },
    facts: { currentCommand: what },
  });
}

function tooMany({ id }: ExecTerminal): CoreError {
  return new CoreError('capacity_reached', `${maxWaiting} commands wait for session ${id} already`, {
    hint: 'Wait for them, or use another session.',
  });
}
