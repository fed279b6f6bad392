/** Keeps the terminal sessions: makes them, finds them again after a restart, and closes those nobody uses. */
import { CoreError } from '../../kit/errors.ts';
import { Deadline } from '../../kit/deadline.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import { mintId } from '../../kit/ids.ts';
import type { TerminalJobs } from '../../platform/terminal-job.ts';
import type { Child, ChildEnd, Recovered } from '../../platform/spawn.ts';
import type { EnvironmentChanges } from '../identity/environment.ts';
import type { ExecDirectory } from './exec-record.ts';
import type { Executions } from './executions.ts';
import type { TerminalLauncher } from './launcher.ts';
import { Attaching } from './attaching.ts';
import { decodeNote } from './note.ts';
import { systemRefusal } from '../identity/refusal.ts';
import type { ShellBackend } from './shell-process.ts';
import { Terminal, type TerminalRecord } from './terminal.ts';
import type { TerminalSize } from './terminal-size.ts';

/** Where sessions are kept between two lives of the daemon. */
export interface TerminalStore {
  load(): readonly TerminalRecord[];
  save(records: readonly TerminalRecord[]): void;
}

export interface TerminalsDeps {
  readonly launcher: TerminalLauncher;
  /** Takes over what an earlier daemon started. */
  readonly adopt: ShellBackend['adopt'];
  readonly store: TerminalStore;
  readonly jobs: TerminalJobs;
  readonly executions: Executions;
  readonly isDirectory: (path: string) => boolean;
  readonly platform: NodeJS.Platform;
  readonly maxTerminals: number;
  readonly idleMs: number;
  readonly now: () => number;
  readonly onFault: (what: string, error: unknown) => void;
}

export interface NewTerminal {
  /** The caller's own id; an existing one answers its session. */
  readonly id: string | null;
  /** null is the workspace, else the home of its account. */
  readonly cwd: string | null;
  readonly env: EnvironmentChanges;
  readonly user: string | null;
  readonly size: TerminalSize;
  /** null: one with a name of its own persists. */
  readonly retention: TerminalRecord['retention'] | null;
  readonly noChangeTimeoutMs: number | null;
  /** Where its directory cannot be, it begins in the home of its account. */
  readonly isCwdOptional?: boolean;
  /** Its shell knows its directory by the path that was given, with the links in it. */
  readonly isCwdLogical?: boolean;
  /** It is for somebody who closes it, and for no later daemon. */
  readonly isTied?: boolean;
}

const sweepEveryMs = 1000;
const saveWithinMs = 1000;
/** Sessions that have ended stay readable: so many, and for so long. */
const mostEnded = 64;
const endedForMs = 3_600_000;
/** Between SIGHUP and SIGKILL when a session is closed: a shell that waits for a line needs none of it. */
const graceMs = 500;
const endWithinMs = graceMs + 5000;

export class Terminals implements Disposable {
  readonly attaching = new Attaching(() => this.#saveSoon());
  readonly #byId = new Map<string, Terminal>();
  readonly #starting = new Map<string, Promise<Terminal>>();
  /** Of those that are being started: whatever is written down meanwhile has them too. */
  readonly #startingRecords = new Set<TerminalRecord>();
  /** When they ended, the first one first. */
  readonly #endedMs = new Map<Terminal, number>();
  #saving: ReturnType<typeof setTimeout> | null = null;
  #sweeping: ReturnType<typeof setInterval> | null = null;
  /** Aborted once another daemon is to own all of them. */
  #handover = new AbortController();

  constructor(private readonly deps: TerminalsDeps) {
    this.#keepSweeping();
  }

  /** Those whose shell lives. */
  get living(): number {
    return this.#byId.size - this.#endedMs.size;
  }

  /** The commands that are run in them. */
  get executions(): Executions {
    return this.deps.executions;
  }

  get max(): number {
    return this.deps.maxTerminals;
  }

  /** How long one without a name of its own may be idle. */
  get idleMs(): number {
    return this.deps.idleMs;
  }

  /** Takes over what an earlier daemon left; answers what is not a terminal. Called once, before anything is served. */
  recover(recovered: readonly Recovered[]): Recovered[] {
    this.deps.executions.recover();
    const kept = this.deps.store.load().filter(({ isTied }) => isTied !== true);
    const records = new Map(kept.map((record) => [record.id, record]));
    const others: Recovered[] = [];
    const found = new Map<string, { from: number; child: Child }[]>();
    for (const one of recovered) {
      const note = decodeNote(one.note);
      if (note === null) others.push(one);
      else if (!records.has(note.terminalId)) void this.#endChild(one.child);
      else found.set(note.terminalId, [...(found.get(note.terminalId) ?? []), { from: note.from, child: one.child }]);
    }
    for (const [id, parts] of found) {
      const record = records.get(id);
      if (record) this.#readopt(record, parts);
    }
    return others;
  }

  /** Starts nothing more and leaves all of them to another daemon. */
  async handOver(): Promise<void> {
    this.#handover.abort();
    this.attaching.isHeld = true;
    if (this.#sweeping) clearInterval(this.#sweeping);
    await Promise.all([Promise.allSettled(this.#starting.values()), this.deps.executions.handOver()]);
    this.flush();
  }

  /** The other daemon has gone before it served. */
  takeBack(): void {
    this.#handover = new AbortController();
    this.deps.executions.takeBack();
    this.attaching.isHeld = false;
    this.#keepSweeping();
    for (const terminal of this.#byId.values()) void this.#tend(terminal);
  }

  /** Answers the session of that id where there is one whose shell lives. Throws `capacity_reached`, `bad_argument`. */
  async create(spec: NewTerminal): Promise<Terminal> {
    this.#assertOwner();
    const id = spec.id ?? mintId('pty', this.deps.now());
    const existing = this.#starting.get(id) ?? this.#byId.get(id);
    if (existing instanceof Promise || (existing && !existing.isTerminated)) return await existing;
    if (this.living + this.#starting.size >= this.deps.maxTerminals) throw this.#tooMany();
    const started = this.#start(id, spec);
    this.#starting.set(id, started);
    try {
      return await started;
    } finally {
      this.#starting.delete(id);
    }
  }

  /** Throws `terminal_not_found`. */
  get(id: string): Terminal {
    this.#assertOwner();
    const terminal = this.#byId.get(id);
    if (terminal) return terminal;
    throw new CoreError('terminal_not_found', `no terminal session has the id ${id}`, {
      hint: 'POST /v2/pty/sessions creates one; an unnamed one is closed after an hour without use.',
    });
  }

  /** In the order of their creation. */
  list(): Terminal[] {
    this.#assertOwner();
    return [...this.#byId.values()].toSorted((a, b) => a.record.createdMs - b.record.createdMs);
  }

  /** Where a command is to run in a session. Throws `bad_argument` when it must run there, and that is no directory. */
  execDirectory(terminal: Terminal, { path, isLogical, isRequired }: ExecDirectory): ExecDirectory {
    const { launcher, isDirectory } = this.deps;
    const directory = { path: launcher.directoryOf(path, terminal.record.user), isLogical, isRequired };
    if (!isRequired || isDirectory(directory.path)) return directory;
    throw new CoreError('bad_argument', `${directory.path} is no directory`, {
      hint: 'Create it first, or give another one.',
    });
  }

  /** Ends its shell and all that this has started, and forgets what it showed. Throws `terminal_not_found`. */
  async close(id: string): Promise<void> {
    const terminal = this.get(id);
    this.#byId.delete(id);
    this.#endedMs.delete(terminal);
    terminal.close();
    this.#saveSoon();
    await Promise.all(terminal.log.children.map((child) => this.#endChild(child)));
  }

  /** Notes a change of a record, at once: the daemon may die right behind it. */
  keep(): void {
    this.#saveSoon();
    this.flush();
  }

  /** Writes what is still to be written. */
  flush(): void {
    if (this.#saving === null) return;
    clearTimeout(this.#saving);
    this.#saving = null;
    try {
      this.#save();
    } catch (error) {
      this.deps.onFault('terminal sessions could not be written', error);
    }
  }

  [Symbol.dispose](): void {
    if (this.#sweeping) clearInterval(this.#sweeping);
    this.deps.executions.close(this.#handover.signal.aborted);
    this.flush();
  }

  async #start(id: string, spec: NewTerminal): Promise<Terminal> {
    const { launcher, now } = this.deps;
    const cwd = launcher.directoryOf(spec.cwd, spec.user);
    const record: TerminalRecord = {
      id,
      retention: spec.retention ?? (spec.id === null ? 'expiring' : 'persistent'),
      cwd,
      env: spec.isCwdLogical === true ? { ...spec.env, PWD: cwd } : spec.env,
      user: spec.user,
      account: launcher.accountName(spec.user),
      createdMs: now(),
      ...spec.size,
      noChangeTimeoutMs: spec.noChangeTimeoutMs,
      lastUsedMs: now(),
      isTied: spec.isTied ?? false,
    };
    const terminal = new Terminal(record, this.deps);
    await this.#forgetEnded(this.#byId.get(id));
    this.#startingRecords.add(record);
    try {
      // Written down first: a shell that nobody knows would be ended by the next daemon.
      this.#save();
      terminal.run(await launcher.launch(record, 0, spec.cwd === null || spec.isCwdOptional === true));
      this.#byId.set(id, terminal);
    } finally {
      this.#startingRecords.delete(record);
    }
    void this.#tend(terminal);
    return terminal;
  }

  #readopt(record: TerminalRecord, parts: readonly { readonly from: number; readonly child: Child }[]): void {
    const terminal = new Terminal(record, this.deps);
    for (const { from, child } of parts.toSorted((a, b) => a.from - b.from)) {
      terminal.adopt(this.deps.adopt(child), from);
    }
    this.#byId.set(record.id, terminal);
    this.deps.executions.resume(terminal);
    void this.#tend(terminal);
  }

  /** Waits for the end of its shell, and starts another one where that is wanted. */
  async #tend(terminal: Terminal): Promise<void> {
    const { signal } = this.#handover;
    terminal.log.notify(); // Who is attached has waited for this daemon to have it again.
    for (;;) {
      while (!terminal.end && !signal.aborted) await terminal.log.changed(signal);
      if (signal.aborted || this.#byId.get(terminal.id) !== terminal) return;
      if (!terminal.isRestarted()) break;
      if (!(await this.#restart(terminal))) break;
    }
    this.#endedMs.set(terminal, this.deps.now());
    terminal.log.notify();
  }

  async #restart(terminal: Terminal): Promise<boolean> {
    try {
      const from = terminal.log.refresh();
      terminal.run(await this.deps.launcher.launch(terminal.record, from, true, restartNotice(terminal.end)));
      return true;
    } catch (error) {
      this.deps.onFault(`the shell of ${terminal.id} could not be started anew`, error);
      terminal.close();
      return false;
    }
  }

  #sweep(): void {
    const now = this.deps.now();
    const isIdle = ({ record, attached, currentCommand }: Terminal) =>
      record.retention === 'expiring' &&
      attached === 0 &&
      currentCommand === null &&
      now - record.lastUsedMs > this.deps.idleMs;
    const old = [...this.#endedMs].filter(([, endedMs], index) => {
      return now - endedMs > endedForMs || index < this.#endedMs.size - mostEnded;
    });
    const gone = [...[...this.#byId.values()].filter(isIdle), ...old.map(([terminal]) => terminal)];
    for (const { id } of gone) {
      this.close(id).catch((error: unknown) => this.deps.onFault(`session ${id} could not be closed`, error));
    }
  }

  #keepSweeping(): void {
    this.#sweeping = setInterval(() => this.#sweep(), sweepEveryMs);
    this.#sweeping.unref();
  }

  async #forgetEnded(terminal: Terminal | undefined): Promise<void> {
    if (!terminal) return;
    this.#endedMs.delete(terminal);
    this.#byId.delete(terminal.id);
    await Promise.all(terminal.log.children.map((child) => this.#endChild(child)));
  }

  async #endChild(child: Child): Promise<void> {
    if (child.isLetGo) throw new HandedOver();
    child.terminate(graceMs);
    using deadline = new Deadline(endWithinMs);
    while (child.isAttached && !deadline.passed) await child.changed(deadline.signal);
    child.forget();
  }

  #assertOwner(): void {
    if (this.#handover.signal.aborted) throw new HandedOver();
  }

  #tooMany(): CoreError {
    return new CoreError('capacity_reached', `there are ${this.max} terminal sessions, which is the most`, {
      hint: 'DELETE /v2/pty/sessions/{id} closes one; SVC_SHELL_MAX_SESSIONS raises the number.',
    });
  }

  #saveSoon(): void {
    this.#saving ??= setTimeout(() => this.flush(), saveWithinMs);
  }

  #save(): void {
    const records = [...this.#byId.values()].map(({ record }) => record);
    try {
      this.deps.store.save([...records, ...this.#startingRecords]);
    } catch (error) {
      throw systemRefusal(error, 'a terminal');
    }
  }
}

/** What the next shell says before anything else. */
function restartNotice(end: ChildEnd | null): string {
  const how =
    end?.kind !== 'exited'
      ? 'was lost'
      : end.exitCode === null
        ? `was ended by signal ${end.signal}`
        : `ended with exit code ${end.exitCode}`;
  return `[the shell ${how}; this is a new one]`;
}
