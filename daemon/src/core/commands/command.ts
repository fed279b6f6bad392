/** Holds one command: its request, its state and its end. */
import { Deadline } from '../../kit/deadline.ts';
import { signalName } from '../../kit/signal-name.ts';
import type { Child, ChildEnd } from '../../platform/process/spawn.ts';
import type { CommandNote } from './note.ts';
import { RecentChunks } from './output-chunk.ts';

export const commandStatuses = ['running', 'completed', 'timed_out', 'killed', 'failed', 'lost'] as const;
export type CommandStatus = (typeof commandStatuses)[number];

export interface StartFailure {
  /** The step that failed: `cwd`, `exec` and so on. */
  readonly stage: string;
  readonly errno: number;
  readonly errnoName: string;
  readonly message: string;
}

export interface CommandState {
  readonly status: CommandStatus;
  /** 128 + signal if a signal killed the process; null while running, and if unknown. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly oomKilled: boolean | null;
  readonly failure: StartFailure | null;
  readonly endedMs: number | null;
}

/** After the leader ends: how long the pipes must be quiet, and how long the daemon reads them at most. */
const quietMs = 25;
const drainMs = 100;

export class Command {
  /** Rendered output that followers share. */
  readonly recent = new RecentChunks();
  #settled: Promise<void> | null = null;
  #input: Promise<unknown> = Promise.resolve();

  constructor(
    readonly note: CommandNote,
    readonly child: Child,
  ) {}

  get id(): string {
    return this.note.id;
  }

  get pid(): number | null {
    return this.child.pid === 0 ? null : this.child.pid;
  }

  get startedMs(): number {
    return this.child.startedMs || this.note.createdMs;
  }

  get isRunning(): boolean {
    return this.child.end === null;
  }

  get state(): CommandState {
    return stateOf(this.child.end);
  }

  /**
   * Resolves when the leader has ended and its pipes were quiet for a moment, or when the signal aborts. A background
   * process that holds a pipe open does not delay this.
   */
  async finished(signal?: AbortSignal): Promise<void> {
    while (!this.child.end && !signal?.aborted) await this.child.changed(signal);
    if (this.child.end && this.child.streamsOpen) await (this.#settled ??= this.#drain());
  }

  /** Runs the writers of standard input one at a time, so that each writer sees where the previous one stopped. */
  writing<T>(write: () => Promise<T>): Promise<T> {
    const written = this.#input.then(write);
    this.#input = written.catch(() => null); // The next writer runs even if this one fails.
    return written;
  }

  async #drain(): Promise<void> {
    using deadline = new Deadline(drainMs);
    while (this.child.streamsOpen && !deadline.passed) {
      using quiet = new Deadline(quietMs, deadline.signal);
      const ends = this.child.ends;
      this.child.watch();
      await this.child.changed(quiet.signal);
      if (this.child.ends === ends && quiet.passed) return;
    }
  }
}

function stateOf(end: ChildEnd | null): CommandState {
  const unknown = { exitCode: null, signal: null, oomKilled: null, failure: null, endedMs: end?.atMs ?? null };
  if (end === null) return { ...unknown, status: 'running' };
  if (end.kind === 'lost') return { ...unknown, status: 'lost' };
  if (end.kind === 'failed') return { ...unknown, status: 'failed', oomKilled: false, failure: end };
  return {
    status: endedStatus(end),
    exitCode: end.exitCode ?? 128 + end.signal,
    signal: end.signal === 0 ? null : signalName(end.signal),
    oomKilled: end.oomKilled,
    failure: null,
    endedMs: end.atMs,
  };
}

function endedStatus(end: Extract<ChildEnd, { kind: 'exited' }>): CommandStatus {
  if (end.cause === 'timeout') return 'timed_out';
  return end.cause === 'none' && end.signal === 0 ? 'completed' : 'killed';
}
