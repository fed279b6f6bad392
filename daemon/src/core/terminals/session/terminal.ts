/** Represents one terminal session: its shell, its output and its users. */
import { CoreError } from '../../../kit/errors.ts';
import { HandedOver } from '../../../kit/handed-over.ts';
import type { ChildEnd } from '../../../platform/process/spawn.ts';
import type { SessionValues } from '../../processes/same-session.ts';
import { OutputTimes } from '../screen/recording-times.ts';
import { noteSize, type SizeChange } from '../screen/sizes.ts';
import { Job } from '../exec/job.ts';
import { ViewerSizes } from '../attach/viewer-sizes.ts';
import { ExecQueue, type ExecQueueDeps } from '../exec/queue.ts';
import type { ExecTerminal } from '../exec/terminal.ts';
import { graceOf, type ShellProcess } from '../backends/shell-process.ts';
import type { BackendName } from '../backends/names.ts';
import { Backpressure } from './backpressure.ts';
import { TerminalInput } from './input.ts';
import { assertLinux } from '../linux-only.ts';
import { TerminalLog } from './log.ts';
import type { TerminalSize } from '../../../kit/types/terminal-size.ts';

export const terminalStatuses = ['ready', 'running', 'terminated'] as const;
export type TerminalStatus = (typeof terminalStatuses)[number];

/** A named session stays until it is closed. An unnamed session expires when it is idle for too long. */
export const retentions = ['persistent', 'expiring'] as const;
export type Retention = (typeof retentions)[number];

/** Plain data, because it is stored in a file as it is. */
export interface TerminalRecord extends TerminalSize, SessionValues {
  readonly retention: Retention;
  /** The directory in which the first shell started. */
  readonly cwd: string;
  /** What people call the session. Absent if it has no name. */
  readonly name?: string | null;
  readonly createdMs: number;
  /** The size changes and their offsets in the output. Absent if the size never changed. */
  readonly sizes?: readonly SizeChange[];
  /** null means no timeout. */
  readonly noChangeTimeoutMs: number | null;
  readonly lastUsedMs: number;
  /** A durable client has been shown the output up to this offset. Absent if no durable client ever attached. */
  readonly relayed?: number;
  /** The session ends with the caller it was created for, and no other daemon adopts it. */
  readonly isTied?: boolean;
  /** No client named the session. It may be closed to make room while nothing uses it. */
  readonly isTransient?: boolean;
  /** The start-up files did not finish, so the shells start without them. */
  readonly skipsStartUp?: boolean;
}

/** Marks a session as used by a request until the request disposes of the use. */
export interface TerminalUse extends Disposable {
  readonly terminal: Terminal;
  /** The request has started the session. */
  readonly isNew: boolean;
}

export interface TerminalDeps extends ExecQueueDeps {
  /** The record has changed, in more than the time of its last use. */
  readonly onChange: () => void;
}

/** Time between SIGHUP and SIGKILL for a shell whose start-up files hang. */
const startOverGraceMs = 200;

export class Terminal implements ExecTerminal {
  readonly backpressure = new Backpressure();
  readonly input = new TerminalInput(this);
  readonly times = new OutputTimes();
  /** The sizes of attached clients. */
  readonly viewerSizes = new ViewerSizes((size) => {
    // The client has gone, or typed; the end of the shell is reported elsewhere.
    if (!this.isTerminated && !this.deps.ownership.isLeft) this.resize(size);
  });
  /** Runs commands in the shell. */
  readonly exec: ExecQueue;
  /** The title that a program has set, as far as a client has read the output; null before any. */
  title: string | null = null;
  /** What runs in the session, whether exec started it or a person typed it. */
  readonly job: Job;
  readonly log = new TerminalLog((end, isLive) => this.times.note(end, this.deps.now(), isLive));
  readonly #record: { -readonly [Field in keyof TerminalRecord]: TerminalRecord[Field] };
  #attached = 0;
  #users = 0;
  /** The shell is being replaced by one without start-up files. */
  #isStartingOver = false;
  #isReplaced = false;
  #process: ShellProcess | null = null;
  #isClosed = false;

  constructor(
    record: TerminalRecord,
    private readonly deps: TerminalDeps,
  ) {
    this.#record = { ...record };
    this.exec = new ExecQueue(this, deps);
    this.job = new Job(this, this.exec, deps.closing);
  }

  get record(): TerminalRecord {
    return this.#record;
  }

  get id(): string {
    return this.record.id;
  }

  get size(): TerminalSize {
    return { cols: this.record.cols, rows: this.record.rows };
  }

  get backend(): BackendName {
    return this.#process?.backend ?? 'native';
  }

  /** Pid of the shell; null once the shell has ended. */
  get pid(): number | null {
    return this.end ? null : (this.#process?.pid ?? null);
  }

  /** How the shell ended; null while it is alive. */
  get end(): ChildEnd | null {
    return this.#process?.end ?? null;
  }

  get isTerminated(): boolean {
    if (this.#isClosed || this.end === null) return this.#isClosed;
    return !this.#isStartingOver && this.exec.current === null; // A shell that ends under a command is restarted.
  }

  /** True if the session has ended and all its output can be read. */
  get isOver(): boolean {
    if (!this.isTerminated || this.end === null) return false;
    return this.#process?.child.end === null || this.#process?.child.streamsOpen === false;
  }

  get status(): TerminalStatus {
    if (this.isTerminated) return 'terminated';
    return this.exec.runningCommand !== null || this.hasJob ? 'running' : 'ready';
  }

  /** The current directory of the shell, or the start directory if the current one is unknown. */
  get directory(): string {
    return (this.pid === null ? null : this.deps.jobs.shell(this.pid)?.directory) ?? this.record.cwd;
  }

  /** The command in the foreground; null when the shell waits for a line. */
  get foregroundCommand(): string | null {
    if (this.exec.runningCommand !== null) return this.exec.runningCommand;
    const shell = this.pid === null ? null : this.deps.jobs.shell(this.pid);
    if (!shell || shell.foreground === shell.group || shell.foreground <= 0) return null;
    return this.deps.jobs.commandLine(shell.foreground);
  }

  /** The running process. Throws `terminal_ended`. */
  get process(): ShellProcess {
    if (!this.#process || this.isTerminated) throw ended(this.id);
    if (this.deps.ownership.isLeft) throw new HandedOver({ terminalId: this.id });
    return this.#process;
  }

  /** Sets the first shell with its directory, or the shell that replaces one that has ended. */
  run(process: ShellProcess, cwd = this.record.cwd): void {
    this.#record.cwd = cwd;
    this.#isReplaced = this.#process !== null;
    this.log.add(process.child);
    this.backpressure.apply(process);
    this.#process = process;
    this.#isStartingOver = false;
  }

  /** Whether the shell is another one than at the last call. */
  takeReplaced(): boolean {
    const isReplaced = this.#isReplaced;
    this.#isReplaced = false;
    return isReplaced;
  }

  /** Sets a shell that an earlier daemon started. */
  adopt(process: ShellProcess, from: number): void {
    this.log.addFrom(from, process.child);
    this.input.adopt(process.typedBytes);
    this.backpressure.apply(process);
    this.#process = process;
  }

  /** Records a use. An idle session may be closed. */
  touch(): void {
    this.#record.lastUsedMs = this.deps.now();
  }

  get attached(): number {
    return this.#attached;
  }

  /** Counts a socket as attached until the caller disposes of the result. */
  attach(): Disposable {
    const count = (change: number) => {
      this.#attached += change;
      this.touch();
    };
    count(1);
    return { [Symbol.dispose]: () => count(-1) };
  }

  setNoChangeTimeout(ms: number | null): void {
    this.#record.noChangeTimeoutMs = ms;
    this.deps.onChange();
  }

  /** null removes the name. */
  rename(name: string | null): void {
    this.#record.name = name;
    this.deps.onChange();
  }

  /** Records that durable clients were shown the output up to this offset. */
  setRelayed(offset: number): void {
    if (offset <= (this.record.relayed ?? -1)) return;
    this.#record.relayed = offset;
    this.deps.onChange();
  }

  /** Number of requests that use the session now. */
  get users(): number {
    return this.#users;
  }

  use(isNew = false): TerminalUse {
    let isOver = false;
    this.#users += 1;
    const end = () => {
      if (!isOver) this.#users -= 1;
      isOver = true;
    };
    return { terminal: this, isNew, [Symbol.dispose]: end };
  }

  /** Changes the given dimensions. Throws `terminal_ended`. */
  resize(change: { readonly cols?: number | undefined; readonly rows?: number | undefined }): void {
    const { process } = this;
    const { cols, rows } = this.size;
    const size = { cols: change.cols ?? cols, rows: change.rows ?? rows };
    if (cols !== size.cols || rows !== size.rows) {
      this.#record.sizes = noteSize(this.record.sizes, this.size, { offset: this.log.refresh(), ...size });
    }
    process.resize(size);
    this.#record.cols = size.cols;
    this.#record.rows = size.rows;
    this.touch();
    this.deps.onChange();
    this.log.notify();
  }

  /**
   * Signals the foreground job, which may be the shell. Returns false if there was no process to signal. Throws
   * `terminal_ended`, `forbidden`, `not_implemented`.
   */
  signal(signal: NodeJS.Signals): boolean {
    assertLinux(this.deps.platform, 'signal');
    const { pid } = this.process;
    this.touch();
    const shell = pid === null ? null : this.deps.jobs.shell(pid);
    if (!shell || shell.foreground <= 0) return false;
    const outcome = this.deps.jobs.signal(shell.foreground, signal);
    if (outcome !== 'forbidden') return outcome === 'sent';
    throw new CoreError('forbidden', `the foreground of session ${this.id} belongs to another account`, {
      hint: 'Type the key that ends the program, or start the daemon as root.',
    });
  }

  /** True if a process started by the shell is still alive, including background processes. */
  async hasProcesses(): Promise<boolean> {
    return (await this.process.startedPids()).length > 0;
  }

  get isStartingOver(): boolean {
    return this.#isStartingOver;
  }

  /** Ends a shell whose start-up files do not finish. The next shell starts without them. Throws `terminal_ended`. */
  startOver(): void {
    const { child } = this.process;
    this.#isStartingOver = true;
    this.#record.skipsStartUp = true;
    this.deps.onChange();
    child.terminate(graceOf(this.backend, startOverGraceMs));
  }

  /** Marks the session as closed, so that it accepts no further use. */
  close(): void {
    this.#isClosed = true;
    this.log.notify();
  }

  /** True if a process group other than the shell's has the foreground. */
  get hasJob(): boolean {
    const shell = this.pid === null ? null : this.deps.jobs.shell(this.pid);
    return shell !== null && shell.foreground > 0 && shell.foreground !== shell.group;
  }
}

function ended(id: string): CoreError {
  return new CoreError('terminal_ended', `the shell of session ${id} has ended`, {
    hint: 'Its output can still be read, and a new session may have the same id.',
    next: { operation: 'terminals.start' },
  });
}
