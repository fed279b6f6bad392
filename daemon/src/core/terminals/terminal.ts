/** One terminal session: its shell, what that has shown, and who is at it. */
import { CoreError } from '../../kit/errors.ts';
import { Deadline } from '../../kit/deadline.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import type { TerminalJobs } from '../../platform/terminal-job.ts';
import type { ChildEnd } from '../../platform/spawn.ts';
import type { EnvironmentChanges } from '../identity/environment.ts';
import { OutputTimes } from './recording-times.ts';
import { noteSize, type SizeChange } from './screen-sizes.ts';
import type { LastExec } from './exec-record.ts';
import type { BackendName, ShellProcess } from './shell-process.ts';
import { Holds } from './holds.ts';
import { assertLinux } from './linux-only.ts';
import { TerminalLog } from './terminal-log.ts';
import type { TerminalSize } from './terminal-size.ts';

export const terminalStatuses = ['ready', 'running', 'terminated'] as const;
export type TerminalStatus = (typeof terminalStatuses)[number];

/** A session with a name of its own stays until it is closed; another one until nobody has used it for long. */
export const retentions = ['persistent', 'expiring'] as const;
export type Retention = (typeof retentions)[number];

/** Plain data, so that it can be kept in a file as it is. */
export interface TerminalRecord {
  readonly id: string;
  readonly retention: Retention;
  readonly cwd: string;
  readonly env: EnvironmentChanges;
  /** null is the default account. */
  readonly user: string | null;
  /** The name of its account when it was created. */
  readonly account: string;
  readonly createdMs: number;
  cols: number;
  rows: number;
  /** Where in the output it was given which size; the first one where it never changed. */
  sizes?: readonly SizeChange[];
  /** null is none. */
  noChangeTimeoutMs: number | null;
  lastUsedMs: number;
  /** Up to here somebody durable has been shown it; absent while nobody ever was. */
  relayed?: number;
  /** It lives as long as what this daemon has made it for, and in no other daemon. */
  readonly isTied?: boolean;
}

export interface TerminalDeps {
  readonly jobs: TerminalJobs;
  readonly now: () => number;
  readonly platform: NodeJS.Platform;
}

/** What is typed is taken at once, or waits for a program to read it: so long. */
const typeWithinMs = 10_000;

export class Terminal {
  readonly holds = new Holds();
  readonly times = new OutputTimes();
  readonly log = new TerminalLog((end, isLive) => this.times.note(end, this.deps.now(), isLive));
  /** Sockets that are open to it. */
  attached = 0;
  /** What a program has called it, as far as the screen was looked at; null before any has. */
  title: string | null = null;
  /** What somebody has it run now; null is nothing, or a command that a person has typed. */
  currentCommand: string | null = null;
  /** Of the commands that exec was asked for; null before any. */
  lastExec: LastExec | null = null;
  /** A shell that ends is then started anew. */
  isRestarted: () => boolean = () => false;
  #process: ShellProcess | null = null;
  /** Of somebody who is attached; not typed yet. */
  untypedBytes = 0;
  #typedBytes: number | null = 0;
  #typing: Promise<unknown> = Promise.resolve();
  #lastTurn: object | null = null;
  #isClosed = false;

  constructor(
    readonly record: TerminalRecord,
    private readonly deps: TerminalDeps,
  ) {}

  get id(): string {
    return this.record.id;
  }

  get size(): TerminalSize {
    return { cols: this.record.cols, rows: this.record.rows };
  }

  get backend(): BackendName {
    return this.#process?.backend ?? 'native';
  }

  /** Of the shell; null once that has ended. */
  get pid(): number | null {
    return this.end ? null : (this.#process?.pid ?? null);
  }

  /** How its shell has ended; null while it lives. */
  get end(): ChildEnd | null {
    return this.#process?.end ?? null;
  }

  get isTerminated(): boolean {
    return this.#isClosed || (this.end !== null && !this.isRestarted());
  }

  /** It has ended, and all that it showed can be read. */
  get isOver(): boolean {
    if (!this.isTerminated || this.end === null) return false;
    return this.#process?.child.end === null || this.#process?.child.streamsOpen === false;
  }

  get status(): TerminalStatus {
    if (this.isTerminated) return 'terminated';
    return this.currentCommand !== null || this.hasJob ? 'running' : 'ready';
  }

  /** What was ever typed into it, and what waits to be: so that nobody types anything twice. null where nobody knows. */
  get inputBytes(): number | null {
    return this.#typedBytes === null ? null : this.#typedBytes + this.untypedBytes;
  }

  /** Where its shell is; where it was started, once that cannot be known. */
  get directory(): string {
    return (this.pid === null ? null : this.deps.jobs.shell(this.pid)?.directory) ?? this.record.cwd;
  }

  /** What runs in its foreground; null when the shell waits for a line. */
  get foregroundCommand(): string | null {
    if (this.currentCommand !== null) return this.currentCommand;
    const shell = this.pid === null ? null : this.deps.jobs.shell(this.pid);
    if (!shell || shell.foreground === shell.group || shell.foreground <= 0) return null;
    return this.deps.jobs.commandLine(shell.foreground);
  }

  /** The running process. Throws `terminal_ended`. */
  get process(): ShellProcess {
    if (!this.#process || this.isTerminated) throw ended(this.id);
    if (this.#process.child.isLetGo) throw new HandedOver();
    return this.#process;
  }

  /** Its shell, or another one after the one before has ended. */
  run(process: ShellProcess): void {
    this.log.add(process.child);
    this.holds.apply(process);
    this.#process = process;
  }

  /** The same, of a process that an earlier daemon had started. */
  adopt(process: ShellProcess, from: number): void {
    this.log.addFrom(from, process.child);
    this.#typedBytes = process.typedBytes;
    this.holds.apply(process);
    this.#process = process;
  }

  /** It is somebody's: an idle one may be closed. */
  touch(): void {
    this.record.lastUsedMs = this.deps.now();
  }

  /** Types behind what others have typed; answers how many of the bytes were taken. Throws `terminal_ended`. */
  async type(bytes: Uint8Array, signal: AbortSignal): Promise<number> {
    return await this.takeTurn({}, () => this.typeInTurn(bytes, signal));
  }

  /** Whoever types does so behind all who came before: `work` has the keyboard until it is done. */
  async takeTurn<T>(turn: object, work: () => Promise<T>): Promise<T> {
    this.#lastTurn = turn;
    const done = this.#typing.then(() => {
      if (this.#lastTurn === turn) this.#lastTurn = null;
      return work();
    });
    this.#typing = done.catch(() => null); // The next one types, whatever became of this one.
    return await done;
  }

  /** It has not begun, and nobody has come behind it. */
  isLastTurn(turn: object): boolean {
    return this.#lastTurn === turn;
  }

  /** The same as `type`, for whoever has the keyboard. */
  async typeInTurn(bytes: Uint8Array, signal: AbortSignal): Promise<number> {
    this.touch();
    if (!this.log.isWatched) this.log.refresh(); // What comes from now on comes later than this.
    using deadline = new Deadline(typeWithinMs, signal);
    const count = await this.process.type(bytes, deadline.signal);
    if (this.#typedBytes !== null) this.#typedBytes += count;
    return count;
  }

  /** Throws `terminal_ended`. */
  resize(size: TerminalSize): void {
    const { process } = this;
    const { cols, rows } = this.size;
    if (cols !== size.cols || rows !== size.rows) {
      this.record.sizes = noteSize(this.record.sizes, this.size, { offset: this.log.refresh(), ...size });
    }
    process.resize(size);
    this.record.cols = size.cols;
    this.record.rows = size.rows;
    this.touch();
    this.log.notify();
  }

  /** To the job in the foreground, be it the shell. False when nobody was there. Throws `terminal_ended`, `forbidden`, `not_implemented`. */
  signal(signal: NodeJS.Signals): boolean {
    assertLinux(this.deps.platform, 'signal');
    const { pid } = this.process;
    this.touch();
    const shell = pid === null ? null : this.deps.jobs.shell(pid);
    if (!shell || shell.foreground <= 0) return false;
    const outcome = this.deps.jobs.signal(shell.foreground, signal);
    if (outcome !== 'forbidden') return outcome === 'sent';
    throw new CoreError('forbidden', `the foreground of session ${this.id} belongs to another account`, {
      hint: 'Type what ends it, or start the daemon as root.',
    });
  }

  /** Nobody is to use it any more. */
  close(): void {
    this.#isClosed = true;
    this.log.notify();
  }

  /** Something else than the shell has the foreground. */
  get hasJob(): boolean {
    const shell = this.pid === null ? null : this.deps.jobs.shell(this.pid);
    return shell !== null && shell.foreground > 0 && shell.foreground !== shell.group;
  }
}

function ended(id: string): CoreError {
  return new CoreError('terminal_ended', `the shell of session ${id} has ended`, {
    hint: 'What it showed can still be read. POST /v2/pty/sessions with the same id starts another one.',
  });
}
