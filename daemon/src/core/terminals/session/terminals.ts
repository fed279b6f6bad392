/** Creates terminal sessions, restores them after a daemon restart, and closes idle ones. */
import { CoreError } from '../../../kit/errors.ts';
import { TerminalCapacity } from './capacity.ts';
import { Deadline } from '../../../kit/deadline.ts';
import { lookEvery } from '../../../kit/events/look-every.ts';
import { mintId } from '../../../kit/ids.ts';
import { settled } from '../../../kit/settled.ts';
import type { RecordStore } from '../../../platform/stores/record-store.ts';
import type { Child, Recovered } from '../../../platform/process/spawn.ts';
import type { ExecDirectory } from '../exec/record.ts';
import type { ScriptDirectory } from '../../../platform/stores/script-directory.ts';
import type { TerminalLauncher } from './launcher.ts';
import { AttachedClients } from '../attach/clients.ts';
import type { NewTerminal, RequestedTerminal } from './new-terminal.ts';
import { readNote, type ShellNote } from './note.ts';
import { isRefusedStart } from '../../processes/launch.ts';
import { systemRefusal } from '../../processes/refusal.ts';
import { assertNoDifferences } from '../../processes/same-session.ts';
import { terminateAndForget, terminateLater } from '../../processes/terminate.ts';
import { restartNotice } from './start-up.ts';
import { graceOf, type ShellProcess } from '../backends/shell-process.ts';
import type { BackendName } from '../backends/names.ts';
import { Terminal, type TerminalDeps, type TerminalRecord, type TerminalUse } from './terminal.ts';

export interface TerminalsDeps extends Omit<TerminalDeps, 'closing' | 'onChange'> {
  readonly launcher: TerminalLauncher;
  /** Adopts a process that an earlier daemon started. */
  readonly adopt: (child: Child, backend: BackendName) => ShellProcess;
  readonly store: RecordStore<TerminalRecord>;
  readonly scripts: Pick<ScriptDirectory, 'place' | 'write' | 'hasGrown' | 'remove' | 'recover' | 'close'>;
  readonly isDirectory: (path: string) => boolean;
  readonly maxTerminals: number;
  readonly idleMs: number;
}

const sweepEveryMs = 1000;
/** A shell takes its line within milliseconds. The handover does not wait longer than this for a slower shell. */
const startWithinMs = 500;
/** Ended sessions stay readable until they are evicted by count or age. */
const maxEnded = 64;
const endedForMs = 3_600_000;
/** Time between SIGHUP and SIGKILL when a session is closed. A shell at its prompt exits at once. */
const graceMs = 500;

/** A shell of an earlier daemon. */
interface Shell extends Omit<ShellNote, 'terminalId'> {
  readonly child: Child;
}

export class Terminals implements Disposable {
  readonly clients: AttachedClients;
  readonly #byId = new Map<string, Terminal>();
  readonly #starting = new Map<string, Promise<TerminalUse>>();
  /** Every save includes the sessions that are starting. */
  readonly #startingTerminals = new Set<Terminal>();
  /** The end time of each ended session, oldest first. */
  readonly #endedMs = new Map<Terminal, number>();
  readonly #capacity: TerminalCapacity;
  readonly #terminalDeps: TerminalDeps;
  readonly #closing = new AbortController();
  /** Their supervision continues after the restart. */
  readonly #restarting = new Set<Terminal>();
  #sweeping: ReturnType<typeof setInterval> | null = null;

  constructor(private readonly deps: TerminalsDeps) {
    this.clients = new AttachedClients(deps.ownership);
    this.#terminalDeps = { ...deps, closing: this.#closing.signal, onChange: () => deps.store.saveSoon() };
    this.#capacity = new TerminalCapacity({
      max: deps.maxTerminals,
      living: () => [...this.#byId.values()].filter((terminal) => !this.#endedMs.has(terminal)),
      close: (id) => this.close(id),
    });
    this.#keepSweeping();
  }

  /** The number of sessions with a live shell. */
  get living(): number {
    return this.#byId.size - this.#endedMs.size;
  }

  get max(): number {
    return this.deps.maxTerminals;
  }

  /** How long an unnamed session may be idle before it is closed. */
  get idleMs(): number {
    return this.deps.idleMs;
  }

  /** Adopts the sessions that an earlier daemon left. Called once, before the daemon serves requests. */
  recover(recovered: readonly Recovered[]): void {
    this.deps.scripts.recover();
    const kept = this.deps.store.open(() => this.#records()).filter(({ isTied }) => isTied !== true);
    const records = new Map(kept.map((record) => [record.id, record]));
    const found = new Map<string, Shell[]>();
    for (const { note, child } of recovered) {
      const { terminalId, from, backend } = readNote(note);
      if (isRefusedStart(child)) child.forget();
      else if (records.has(terminalId))
        found.set(terminalId, [...(found.get(terminalId) ?? []), { from, backend, child }]);
      else this.#end(child, backend);
    }
    for (const [id, parts] of found) {
      const record = records.get(id);
      if (record) this.#readopt(record, parts);
    }
  }

  /** Stops starting sessions and leaves them to another daemon. */
  async handOver(calledOff: AbortSignal): Promise<void> {
    if (this.#sweeping) clearInterval(this.#sweeping);
    using late = new Deadline(startWithinMs, calledOff);
    const started = [...this.#byId.values()].map(({ exec }) => exec.started(late.signal));
    await settled([this.clients.confirmed(), ...this.#starting.values(), ...started], calledOff);
    if (!calledOff.aborted) this.deps.store.save();
  }

  /** Resumes ownership after the other daemon exited before it served requests. */
  takeBack(): void {
    this.deps.store.saveSoon();
    this.#keepSweeping();
    for (const terminal of this.#byId.values()) if (!this.#restarting.has(terminal)) void this.#supervise(terminal);
  }

  /**
   * Returns the living session with that id, or starts one. It is not closed to make room for another one until the
   * caller disposes of the use. Throws `capacity_reached`, `bad_argument`.
   */
  async open(spec: NewTerminal): Promise<TerminalUse> {
    this.deps.ownership.assertOwned();
    const id = spec.id ?? mintId('pty', this.deps.now());
    const existing = this.#byId.get(id);
    if (existing && !existing.isTerminated) return existing.use();
    const starting = this.#starting.get(id);
    if (starting) return (await starting).terminal.use();
    const started = this.#start(id, spec);
    this.#starting.set(id, started);
    try {
      return await started;
    } finally {
      this.#starting.delete(id);
    }
  }

  /** Throws `session_exists` if the session differs from the request. */
  assertSame({ record }: Terminal, requested: RequestedTerminal): void {
    const { cols, rows, cwd, user, retention, noChangeTimeoutMs } = requested;
    const path = cwd === null ? null : this.deps.launcher.directoryOf(cwd, user);
    const found = [
      ...this.deps.launcher.differences(record, { ...requested, cwd: path }),
      ...(cols !== undefined && cols !== record.cols ? [`${record.cols} cols`] : []),
      ...(rows !== undefined && rows !== record.rows ? [`${record.rows} rows`] : []),
      ...(retention !== null && retention !== record.retention ? [`the retention ${record.retention}`] : []),
      ...(noChangeTimeoutMs !== undefined && noChangeTimeoutMs !== record.noChangeTimeoutMs
        ? ['another timeout without new output']
        : []),
    ];
    assertNoDifferences(record.id, found, { operation: 'terminals.close' });
  }

  /** Throws `terminal_not_found`. */
  get(id: string): Terminal {
    this.deps.ownership.assertOwned();
    const terminal = this.#byId.get(id);
    if (terminal) return terminal;
    throw new CoreError('terminal_not_found', `no terminal session has the id ${id}`, {
      hint: 'A session without a name of its own is closed after an hour without use.',
      next: { operation: 'terminals.start' },
    });
  }

  /** Sorted by creation time. */
  list(): Terminal[] {
    this.deps.ownership.assertOwned();
    return [...this.#byId.values()].toSorted((a, b) => a.record.createdMs - b.record.createdMs);
  }

  /** Resolves a path from a client of the session to an absolute path. */
  directoryOf({ record }: Terminal, path: string): string {
    return this.deps.launcher.directoryOf(path, record.user);
  }

  /** Resolves the directory for a command. Throws `bad_argument` if the directory is required but does not exist. */
  execDirectory(terminal: Terminal, { path, isLogical, isRequired }: ExecDirectory): ExecDirectory {
    const directory = { path: this.directoryOf(terminal, path), isLogical, isRequired };
    if (!isRequired || this.deps.isDirectory(directory.path)) return directory;
    throw new CoreError('bad_argument', `${directory.path} is not a directory`, {
      hint: 'Create it first, or pass another directory.',
    });
  }

  /** Ends the shell and everything it started, and deletes the output. Throws `terminal_not_found`. */
  async close(id: string): Promise<void> {
    const terminal = this.get(id);
    this.#byId.delete(id);
    this.#endedMs.delete(terminal);
    terminal.close();
    this.deps.store.saveSoon();
    const closeMs = graceOf(terminal.backend, graceMs);
    await Promise.all(terminal.log.children.map((child) => terminateAndForget(child, closeMs)));
  }

  /** Writes pending changes at once, because the daemon may die right afterwards. */
  flush(): void {
    this.deps.store.flush();
  }

  [Symbol.dispose](): void {
    if (this.#sweeping) clearInterval(this.#sweeping);
    this.#closing.abort();
    if (this.deps.ownership.isOwned) this.deps.scripts.close(); // The next daemon has the scripts of its commands.
    this.flush();
  }

  async #start(id: string, spec: NewTerminal): Promise<TerminalUse> {
    const { launcher, now } = this.deps;
    const cwd = launcher.directoryOf(spec.cwd, spec.user);
    const record: TerminalRecord = {
      id,
      retention: spec.retention ?? (spec.id === null ? 'expiring' : 'persistent'),
      cwd,
      env: spec.isCwdLogical === true ? { ...spec.env, PWD: cwd } : spec.env,
      user: spec.user,
      account: launcher.accountName(spec.user),
      name: spec.name ?? null,
      createdMs: now(),
      ...spec.size,
      noChangeTimeoutMs: spec.noChangeTimeoutMs,
      lastUsedMs: now(),
      isTied: spec.isTied ?? false,
      isTransient: spec.isTransient ?? false,
    };
    using _place = await this.#capacity.take(this.deps.ownership.leaving, spec.mayEvict ?? true);
    const terminal = new Terminal(record, this.#terminalDeps);
    await this.#forgetEnded(this.#byId.get(id));
    this.#startingTerminals.add(terminal);
    try {
      this.#writeRecords(); // First of all: the next daemon would end a shell without a record.
      const launched = await launcher.launch(terminal.record, 0, spec.cwd === null || spec.isCwdOptional === true);
      terminal.run(launched.process, launched.cwd);
      this.#byId.set(id, terminal);
    } finally {
      this.#startingTerminals.delete(terminal);
    }
    void this.#supervise(terminal);
    return terminal.use(true);
  }

  #readopt(record: TerminalRecord, parts: readonly Shell[]): void {
    const terminal = new Terminal(record, this.#terminalDeps);
    for (const { from, backend, child } of parts.toSorted(inOrder)) {
      terminal.adopt(this.deps.adopt(child, backend), from);
    }
    this.#byId.set(record.id, terminal);
    terminal.exec.resume();
    void this.#supervise(terminal);
  }

  /** Waits for the shell to end and restarts it where needed. */
  async #supervise(terminal: Terminal): Promise<void> {
    terminal.log.notify(); // Attached clients have waited for this daemon to own the session again.
    do {
      // An upgrade that begins and is called off during a restart leaves another signal.
      const { leaving } = this.deps.ownership;
      while (!terminal.end && !leaving.aborted) await terminal.log.changed(leaving);
      if (leaving.aborted || this.#byId.get(terminal.id) !== terminal) return;
    } while (!terminal.isTerminated && (await this.#restart(terminal)));
    this.#endedMs.set(terminal, this.deps.now());
    terminal.log.notify();
  }

  async #restart(terminal: Terminal): Promise<boolean> {
    this.#restarting.add(terminal);
    try {
      const from = terminal.log.refresh();
      const notice = restartNotice(terminal.end, terminal.isStartingOver);
      this.flush(); // Saves whether the shells skip their start-up files.
      terminal.run((await this.deps.launcher.launch(terminal.record, from, true, notice)).process);
      return true;
    } catch (error) {
      this.deps.onFault(`the shell of ${terminal.id} could not be started anew`, error);
      terminal.close();
      return false;
    } finally {
      this.#restarting.delete(terminal);
    }
  }

  #sweep(): void {
    const now = this.deps.now();
    const isIdle = ({ record, attached, exec }: Terminal) =>
      record.retention === 'expiring' &&
      attached === 0 &&
      exec.runningCommand === null &&
      now - record.lastUsedMs > this.deps.idleMs;
    const old = [...this.#endedMs].filter(([, endedMs], index) => {
      return now - endedMs > endedForMs || index < this.#endedMs.size - maxEnded;
    });
    const gone = [...[...this.#byId.values()].filter(isIdle), ...old.map(([terminal]) => terminal)];
    for (const { id } of gone) {
      this.close(id).catch((error: unknown) => this.deps.onFault(`session ${id} could not be closed`, error));
    }
  }

  #keepSweeping(): void {
    this.#sweeping = lookEvery(sweepEveryMs, () => this.#sweep()).unref();
  }

  async #forgetEnded(terminal: Terminal | undefined): Promise<void> {
    if (!terminal) return;
    this.#endedMs.delete(terminal);
    this.#byId.delete(terminal.id);
    const closeMs = graceOf(terminal.backend, graceMs);
    await Promise.all(terminal.log.children.map((child) => terminateAndForget(child, closeMs)));
  }

  #end(child: Child, backend: BackendName): void {
    const onFault = (error: unknown): void => this.deps.onFault('a shell could not be ended', error);
    terminateLater(child, onFault, graceOf(backend, graceMs));
  }

  #records(): TerminalRecord[] {
    return [...new Set([...this.#byId.values(), ...this.#startingTerminals])].map(({ record }) => record);
  }

  #writeRecords(): void {
    try {
      this.deps.store.write(this.#records());
    } catch (error) {
      throw systemRefusal(error, 'a terminal');
    }
  }
}

/** A shell that printed nothing begins at the same offset as the shell that replaced it. */
function inOrder(a: Shell, b: Shell): number {
  return a.from - b.from || a.child.startedMs - b.child.startedMs;
}
