/** Describes and ends what runs in a session, whether exec started it or a person typed it. */
import { Deadline } from '../../../kit/deadline.ts';
import type { Execution } from './execution.ts';
import type { ExecQueue } from './queue.ts';
import type { ConsoleRecord, RunStatus } from './record.ts';
import { followText } from './output.ts';
import { stopForeground, type Stoppable } from './stop.ts';
import type { ExecTerminal } from './terminal.ts';

/** The running command, or else the last one that ended. */
export interface JobState {
  readonly status: RunStatus;
  /** null before the first command. */
  readonly command: string | null;
  /** Exit code of the command, or of the shell once the shell has ended. */
  readonly exitCode: number | null;
  /** The exec commands of this session. */
  readonly console: readonly ConsoleRecord[];
}

/** No event reports the end of a typed command, so it is polled. */
const lookEveryMs = 250;
/** A command that is about to begin prints its first mark within this time. */
const begunWithinMs = 5000;

export class Job {
  constructor(
    private readonly terminal: ExecTerminal,
    private readonly exec: ExecQueue,
    /** Aborted when this daemon exits. */
    private readonly closing: AbortSignal,
  ) {}

  get isRunning(): boolean {
    return !this.terminal.isTerminated && (this.exec.isRunning || this.terminal.hasJob);
  }

  look(): JobState {
    const { terminal, exec } = this;
    const { console, last } = exec;
    if (terminal.isTerminated) {
      const exitCode = terminal.end?.kind === 'exited' ? terminal.end.exitCode : null;
      return { status: 'terminated', command: last?.command ?? null, exitCode, console };
    }
    if (!this.isRunning) return { ...(last ?? { status: 'completed', command: null, exitCode: null }), console };
    // A typed command may hold the foreground while an exec command waits for it.
    const command = terminal.foregroundCommand ?? exec.currentCommand;
    return { status: 'running', command, exitCode: null, console };
  }

  /** Resolves when nothing runs, or when the signal aborts. */
  async over(signal: AbortSignal): Promise<void> {
    while (this.isRunning && !signal.aborted) await this.#changed(signal);
  }

  /** Streams the session's output from now on as plain text, until nothing runs. */
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

  /** Waits until the command whose turn it is runs. Before that, input and signals would reach the shell. */
  async begun(signal: AbortSignal): Promise<Execution | null> {
    using deadline = new Deadline(begunWithinMs, signal);
    const { exec } = this;
    // A finished command keeps its turn until the shell shows its next prompt. The caller means the command after it.
    const isBetween = () => exec.isRunning && (exec.current === null || exec.current.end !== null);
    while (isBetween() && !this.terminal.hasJob && !deadline.passed) await exec.changed(deadline.signal);
    const { current } = exec;
    while (current && !current.isStarted && !current.end && !deadline.passed) await current.changed(deadline.signal);
    return current;
  }

  /** Ends the running command with all its processes and returns how it ended. Queued commands still run. */
  async terminate(): Promise<Pick<JobState, 'status' | 'exitCode'>> {
    const { terminal, closing } = this;
    const execution = await this.begun(closing);
    if (execution && !execution.end) {
      await execution.stop('terminated', closing);
      return execution.end ?? { status: 'running', exitCode: null };
    }
    if (!terminal.hasJob) return this.look();
    await stopForeground(terminal, this.#typed(), closing);
    return { status: terminal.hasJob ? 'running' : 'terminated', exitCode: null };
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
    await Promise.race([this.terminal.log.changed(look.signal), this.exec.changed(look.signal)]);
  }
}
