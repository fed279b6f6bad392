/** What runs in a session, whoever has started it: a command that exec was asked for, or one that a person has typed. */
import { Deadline } from '../../kit/deadline.ts';
import type { Execution } from './exec.ts';
import type { ExecLife } from './exec-life.ts';
import type { ExecQueue } from './exec-queue.ts';
import type { ConsoleRecord, RunStatus } from './exec-record.ts';
import { stopForeground, type Stoppable } from './exec-stop.ts';
import { followText } from './plain-text.ts';
import type { Terminal } from './terminal.ts';

/** What runs now, or else what has ended last. */
export interface JobState {
  readonly status: RunStatus;
  /** null before any. */
  readonly command: string | null;
  /** Of the command; of the shell once that has ended. */
  readonly exitCode: number | null;
  /** What exec was asked for in this session. */
  readonly console: readonly ConsoleRecord[];
}

/** The end of what a person has typed is told by nobody. */
const lookEveryMs = 250;
/** A command that is about to begin has its first mark within that. */
const begunWithinMs = 5000;

export class Job {
  constructor(
    private readonly terminal: Terminal,
    private readonly queue: ExecQueue,
    private readonly life: ExecLife,
  ) {}

  get isRunning(): boolean {
    return !this.terminal.isTerminated && (this.queue.isRunning || this.terminal.hasJob);
  }

  look(): JobState {
    const { terminal, queue } = this;
    const { console } = queue;
    const last = this.#last();
    if (terminal.isTerminated) {
      const exitCode = terminal.end?.kind === 'exited' ? terminal.end.exitCode : null;
      return { status: 'terminated', command: last?.command ?? null, exitCode, console };
    }
    if (!this.isRunning) {
      const { status, command, exitCode } = last ?? { status: 'completed', command: null, exitCode: null };
      return { status, command, exitCode, console };
    }
    // What a person runs may have the foreground while a command waits for it.
    const command = terminal.foregroundCommand ?? queue.currentCommand;
    return { status: 'running', command, exitCode: null, console };
  }

  /** Resolves when nothing runs, or when the signal aborts. */
  async over(signal: AbortSignal): Promise<void> {
    while (this.isRunning && !signal.aborted) await this.#changed(signal);
  }

  /** What the session shows from now on, as plain text, until nothing runs. */
  follow(signal: AbortSignal): AsyncGenerator<string> {
    const { log } = this.terminal;
    const isOver = () => !this.isRunning;
    const source = {
      from: log.refresh(),
      get to() {
        return log.refresh();
      },
      get isOver() {
        return isOver();
      },
      changed: (until: AbortSignal) => this.#changed(until),
    };
    return followText(log, source, signal);
  }

  /** The command that has its turn, once it runs: before that, what is typed or signalled would be the shell's. */
  async begun(signal: AbortSignal): Promise<Execution | null> {
    using deadline = new Deadline(begunWithinMs, signal);
    const { queue } = this;
    // One that has ended has its turn until the shell has its next prompt: the one behind it is meant.
    const isBetween = () => queue.isRunning && (queue.current === null || queue.current.end !== null);
    while (isBetween() && !this.terminal.hasJob && !deadline.passed) await queue.changed(deadline.signal);
    const { current } = queue;
    while (current && !current.isStarted && !current.end && !deadline.passed) await current.changed(deadline.signal);
    return current;
  }

  /** Ends what runs with all its processes; what waits behind it goes on. Answers how it has ended. */
  async terminate(): Promise<Pick<JobState, 'status' | 'exitCode'>> {
    const { terminal, life } = this;
    const execution = await this.begun(life.ending);
    if (execution && !execution.end) {
      execution.stoppedAs ??= 'terminated';
      await stopForeground(terminal, execution, life.ending);
      return execution.end ?? { status: 'running', exitCode: null };
    }
    if (!terminal.hasJob) return this.look();
    await stopForeground(terminal, this.#typed(), life.ending);
    return { status: terminal.hasJob ? 'running' : 'terminated', exitCode: null };
  }

  #last(): Pick<JobState, 'status' | 'command' | 'exitCode'> | null {
    const { current } = this.queue;
    return current?.end ? { command: current.command, ...current.end } : this.terminal.lastExec;
  }

  #typed(): Stoppable {
    const isOver = () => !this.terminal.hasJob;
    return {
      get isOver() {
        return isOver();
      },
      changed: (signal) => this.#changed(signal),
    };
  }

  async #changed(signal: AbortSignal): Promise<void> {
    using look = new Deadline(lookEveryMs, signal);
    this.terminal.log.watch();
    await Promise.race([this.terminal.log.changed(look.signal), this.queue.changed(look.signal)]);
  }
}
