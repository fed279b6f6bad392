/** Keeps the code sessions: makes them, runs cells in them, finds them again after a restart, and closes idle ones. */
import { CoreError } from '../../kit/errors.ts';
import { Deadline } from '../../kit/deadline.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import { mintId } from '../../kit/ids.ts';
import type { Child, Recovered } from '../../platform/spawn.ts';
import type { Account, Accounts } from '../identity/accounts.ts';
import type { EnvironmentChanges } from '../identity/environment.ts';
import { absolute } from '../identity/places.ts';
import type { CodeBackend } from './backend.ts';
import type { Backends } from './backends.ts';
import type { Cell, CellRequest } from './cell.ts';
import { endChild } from './child-interpreter.ts';
import type { Interpreter } from './interpreter.ts';
import type { LargeValues } from './large-values.ts';
import { poolKindOf, type Language, type PoolKind } from './language.ts';
import { decodeNote, type InterpreterNote } from './note.ts';
import { CodeSession, type RunningCell, type SessionRecord } from './session.ts';
import { SingleRuns, type Scratch } from './single-runs.ts';
import type { SpareInterpreters } from './spare-interpreters.ts';

/** Where a session begins. */
export interface NewSession {
  /** The caller's own id; an existing one answers its session. */
  readonly id: string | null;
  readonly language: Language;
  /** The name of a kernelspec; null is the best backend for the language. */
  readonly kernel: string | null;
  readonly cwd: string | null;
  readonly env: EnvironmentChanges;
  readonly user: string | null;
  /** A kernel, whatever is pinned; that of an existing session will do, whatever its name. */
  readonly onKernel?: boolean;
  /** In place of the limit for all of its kind. */
  readonly idleMs?: number;
}

export interface CellSpec extends CellRequest {
  readonly language: Language;
  readonly kernel: string | null;
  /** null runs it alone: its interpreter is new, and ends with it. */
  readonly sessionId: string | null;
  readonly user: string | null;
  readonly onKernel?: boolean;
  /** The code itself enters `cwd`: that it is not there is an error of the code then. */
  readonly entersDirectory?: boolean;
  /** Texts by their names below the directory that it runs in. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface SessionLimits {
  readonly most: number;
  readonly idleMs: number;
}

/** Kernels have more than their processes: bridges that speak for them, and files. */
export interface KernelKeeping {
  /** Takes over the bridge of an earlier daemon, before any of its kernels. */
  recover(note: InterpreterNote, child: Child): void;
  /** A kernel of an earlier daemon that nobody wants. */
  discard(note: InterpreterNote): void;
  /** All that is wanted was adopted. */
  recovered(): void;
  close(): void;
}

export interface CodeSessionsDeps {
  readonly backends: Backends;
  readonly spare: SpareInterpreters;
  readonly accounts: Accounts;
  readonly limits: Readonly<Record<PoolKind, SessionLimits>>;
  readonly largeValues: LargeValues;
  readonly kernels: KernelKeeping;
  readonly scratch: Scratch;
  readonly store: { load(): readonly SessionRecord[]; save(records: readonly SessionRecord[]): void };
  readonly notes: {
    load(id: string): RunningCell | null;
    save(id: string, running: RunningCell): void;
    clear(id: string): void;
    remove(id: string): void;
  };
  readonly now: () => number;
  readonly onFault: (what: string, error: unknown) => void;
}

/** Of code that waits, in all sessions. */
const mostWaitingCharacters = 64 * 1024 * 1024;
const sweepEveryMs = 1000;
const saveWithinMs = 1000;
/** Another daemon may still read what a single cell has shown, for a caller that it has. */
const readWithinMs = 5000;

export class CodeSessions implements Disposable {
  readonly #byId = new Map<string, CodeSession>();
  readonly #opening = new Map<string, Promise<CodeSession>>();
  readonly #single: SingleRuns;
  #saving: ReturnType<typeof setTimeout> | null = null;
  #sweeping: ReturnType<typeof setInterval> | null = null;
  #isHandedOver = false;
  /** What is written down is another daemon's. */
  #isLeft = false;

  constructor(private readonly deps: CodeSessionsDeps) {
    const { scratch, onFault } = deps;
    this.#single = new SingleRuns({ scratch, onFault, isHandedOver: () => this.#isHandedOver });
    this.#keepSweeping();
  }

  /** Takes over what an earlier daemon left; answers what is no interpreter. Called once, before anything is served. */
  async recover(recovered: readonly Recovered[]): Promise<Recovered[]> {
    this.deps.largeValues.recover();
    const kept = this.deps.store.load();
    const records = new Map(kept.map((record) => [record.interpreter ?? record.id, record]));
    const noted = recovered.map((one) => ({ one, note: decodeNote(one.note) }));
    const found: Promise<void>[] = [];
    for (const { one, note } of noted) if (note?.backend === 'bridge') this.deps.kernels.recover(note, one.child);
    for (const { one, note } of noted) {
      if (note === null || note.backend === 'bridge') continue;
      const record = records.get(note.id);
      if (record) found.push(this.#readopt(record, note, one.child));
      else this.#discard(note, one.child);
      records.delete(note.id);
    }
    await Promise.all([...found, ...[...records.values()].map((record) => this.#find(record))]);
    this.deps.kernels.recovered();
    this.deps.spare.fill();
    return noted.flatMap(({ one, note }) => (note === null ? [one] : []));
  }

  /** Answers the session of that id where there is one. Throws `capacity_reached`, `bad_argument`, `unavailable`. */
  async create(spec: NewSession): Promise<CodeSession> {
    return (await this.obtain(spec)).session;
  }

  /** The same, and whether it was there already. */
  async obtain(spec: NewSession): Promise<{ session: CodeSession; isNew: boolean }> {
    this.#assertOwner();
    const id = spec.id ?? mintId('code', this.deps.now());
    const existing = this.#opening.get(id) ?? this.#byId.get(id);
    if (existing) return { session: assertSame(await existing, spec, this.deps.accounts), isNew: false };
    const opening = this.#open(id, spec);
    this.#opening.set(id, opening);
    try {
      return { session: await opening, isNew: true };
    } finally {
      this.#opening.delete(id);
    }
  }

  /** Throws what `create` does, and what `CodeSession.enqueue` and `Scratch` do. */
  async execute(spec: CellSpec): Promise<{ session: CodeSession; cell: Cell }> {
    this.#assertRoom(spec.code);
    const { sessionId, ...rest } = spec;
    const begin = { ...rest, id: sessionId, cwd: spec.entersDirectory === true ? null : spec.cwd };
    if (sessionId !== null) {
      const session = await this.create(begin);
      return { session, cell: await this.#enqueue(session, spec) };
    }
    this.#assertOwner();
    const session = await this.#make(mintId('one', this.deps.now()), begin, true);
    await this.#single.open(session, spec.isProgram === true && spec.cwd === null);
    let cell: Cell | null = null;
    try {
      cell = await this.#enqueue(session, spec);
      return { session, cell };
    } finally {
      void this.#single.closeBehind(session, cell);
    }
  }

  /** Waits for one that is on its way; null when there is none. */
  async find(id: string): Promise<CodeSession | null> {
    this.#assertOwner();
    const opening = this.#opening.get(id)?.catch(() => null); // Whoever opens it is told.
    return (await opening) ?? this.#byId.get(id) ?? null;
  }

  /** After how long without a cell it is closed. */
  idleLimitMs({ record }: CodeSession): number {
    return record.idleMs ?? this.deps.limits[poolKindOf(record.backend)].idleMs;
  }

  /** Throws `session_not_found`. */
  get(id: string): CodeSession {
    this.#assertOwner();
    const session = this.#byId.get(id);
    if (session) return session;
    throw new CoreError('session_not_found', `no code session has the id ${id}`, {
      hint: 'POST /v2/code/sessions creates one; POST /v2/code/execute with a session_id does too.',
    });
  }

  /** In the order of their creation. */
  list(): CodeSession[] {
    this.#assertOwner();
    return [...this.#byId.values()].toSorted((a, b) => a.record.createdMs - b.record.createdMs);
  }

  /** Ends its interpreter with all that this has started. Throws `session_not_found`. */
  async close(id: string): Promise<void> {
    const session = this.get(id);
    this.#byId.delete(id);
    this.#saveSoon();
    await session.close();
  }

  /** Those of its kind that live. */
  living(kind: PoolKind): number {
    return this.#all.filter(({ record }) => poolKindOf(record.backend) === kind).length;
  }

  /** Starts nothing more, and leaves all of them to another daemon. */
  async handOver(): Promise<void> {
    this.#isHandedOver = true;
    if (this.#sweeping) clearInterval(this.#sweeping);
    await Promise.allSettled(this.#opening.values());
    for (const session of this.#all) session.handOver();
    this.#saveSoon();
    this.flush();
    this.#isLeft = true;
  }

  /** The other daemon has gone before it served. */
  takeBack(): void {
    this.#isHandedOver = false;
    this.#isLeft = false;
    for (const session of this.#all) session.takeBack();
    this.#saveSoon();
    this.#keepSweeping();
  }

  /** Ends what lives on another machine and is still ours; what lives on this one ends with its keepers. */
  async endElsewhere(withinMs: number): Promise<void> {
    const ends = Promise.allSettled(this.#all.map(async (session) => session.endElsewhere()));
    using deadline = new Deadline(withinMs);
    const passed = new Promise((resolve) => deadline.signal.addEventListener('abort', resolve));
    await Promise.race([ends, passed]);
  }

  /** Ends the programs that run alone, and resolves when nothing of them is left. */
  async settle(): Promise<void> {
    await this.#single.settle();
  }

  /** Writes what is still to be written. */
  flush(): void {
    if (this.#saving === null) return;
    clearTimeout(this.#saving);
    this.#saving = null;
    this.#save();
  }

  [Symbol.dispose](): void {
    if (this.#sweeping) clearInterval(this.#sweeping);
    this.deps.spare[Symbol.dispose]();
    if (!this.#isHandedOver) {
      this.deps.largeValues.close();
      this.deps.kernels.close();
    }
    this.flush();
  }

  get #all(): CodeSession[] {
    return [...this.#byId.values(), ...this.#single.all];
  }

  async #open(id: string, spec: NewSession): Promise<CodeSession> {
    const session = await this.#make(id, spec, false);
    this.#byId.set(id, session);
    try {
      await session.open();
    } catch (error) {
      this.#byId.delete(id);
      this.#saveSoon();
      throw error;
    }
    return session;
  }

  async #enqueue(session: CodeSession, spec: CellSpec): Promise<Cell> {
    const { code, env, files, isProgram = false, timeoutMs } = spec;
    // `~` is the home of who runs it, and that is the account of the session.
    const { user } = session.record;
    const cwd = spec.cwd === null ? (session.record.scratch ?? null) : this.#directory(spec.cwd, user);
    if (files) await this.deps.scratch.fill(cwd ?? session.record.cwd, files, user);
    const queuedMs = this.deps.now();
    return session.enqueue({ id: mintId('cell', queuedMs), queuedMs, code, cwd, env, timeoutMs, isProgram });
  }

  async #make(id: string, spec: NewSession, isSingle: boolean): Promise<CodeSession> {
    const { language, kernel, cwd, env, user, onKernel = false, idleMs } = spec;
    const { backends, limits } = this.deps;
    const account = this.deps.accounts.resolve(user).name;
    const backend = await (onKernel ? backends.chooseKernel(kernel, user) : backends.choose(language, kernel, user));
    const kind = poolKindOf(backend.name);
    if (this.living(kind) >= limits[kind].most) throw tooMany(kind, limits[kind].most);
    const now = this.deps.now();
    return this.#session({
      id,
      language,
      backend: backend.name,
      kernel,
      user,
      account,
      cwd: this.#directory(cwd, user),
      env,
      isSingle,
      ...(idleMs !== undefined && { idleMs }),
      createdMs: now,
      lastUsedMs: now,
      executionCount: 0,
      interpreter: null,
    });
  }

  #session(record: SessionRecord): CodeSession {
    const { backends, largeValues, now, notes, onFault, spare } = this.deps;
    return new CodeSession(record, {
      start: async (of) => (await spare.take(of)) ?? (await backends.of(of).start(of, (id) => this.#note(of, id))),
      notes,
      shrink: (event, user) => largeValues.shrink(event, user),
      now,
      onChange: (isUrgent) => (isUrgent ? this.#save() : this.#saveSoon()),
      onFault,
    });
  }

  #note(record: SessionRecord, interpreter: string): void {
    record.interpreter = interpreter;
    this.#save();
  }

  async #readopt(record: SessionRecord, note: InterpreterNote, child: Child): Promise<void> {
    const session = this.#session(record);
    this.#keep(session);
    const running = this.deps.notes.load(record.id);
    const backend: CodeBackend = this.deps.backends.of(record);
    const interpreter = await backend.adopt(note, child, running);
    if (interpreter === null) {
      if (record.isSingle) await this.#single.forget(session);
      session.lose(child.end);
      this.#discard(note, child);
      return;
    }
    session.resume(interpreter, running);
    if (record.isSingle) void this.#single.closeBehind(session, session.last, readWithinMs);
  }

  /** A session whose interpreter is nowhere to be found goes on with a new one when it is used. */
  async #find(record: SessionRecord): Promise<void> {
    const session = this.#session(record);
    const running = this.deps.notes.load(record.id);
    const interpreter = await this.#reconnect(record, running);
    if (interpreter) {
      this.#keep(session);
      session.resume(interpreter, running);
      if (record.isSingle) void this.#single.closeBehind(session, session.last, readWithinMs);
      return;
    }
    this.deps.notes.remove(record.id);
    if (record.isSingle) return await this.#single.removeDirectory(record);
    this.#keep(session);
    if (record.interpreter !== null) session.lose(null);
  }

  async #reconnect(record: SessionRecord, running: RunningCell | null): Promise<Interpreter | null> {
    const { backends } = this.deps;
    // This daemon may have been given other backends than the one before it.
    if (record.interpreter === null || !backends.has(record)) return null;
    return (await backends.of(record).reconnect?.(record.interpreter, record, running)) ?? null;
  }

  #keep(session: CodeSession): void {
    if (session.record.isSingle) this.#single.add(session);
    else this.#byId.set(session.id, session);
  }

  #discard(note: InterpreterNote, child: Child): void {
    this.deps.kernels.discard(note);
    endChild(child).catch((error: unknown) => this.deps.onFault('an interpreter could not be ended', error));
  }

  /** Cells that wait are few, and each may be as large as a request. */
  #assertRoom(code: string): void {
    const waiting = [...this.#byId.values()].reduce((sum, session) => sum + session.waitingCharacters, 0);
    if (waiting === 0 || waiting + code.length <= mostWaitingCharacters) return;
    throw new CoreError('capacity_reached', `code of ${waiting} characters waits for its turn already`, {
      hint: 'Wait for it, or interrupt what runs.',
    });
  }

  #directory(cwd: string | null, user: string | null): string {
    const { accounts } = this.deps;
    const home = accounts.default().home;
    return cwd === null ? home : absolute(cwd, accounts.resolve(user), home);
  }

  #sweep(): void {
    const now = this.deps.now();
    for (const session of this.#byId.values()) {
      const { id, record, state } = session;
      if (state === 'busy' || now - record.lastUsedMs <= this.idleLimitMs(session)) continue;
      this.close(id).catch((error: unknown) => this.deps.onFault(`session ${id} could not be closed`, error));
    }
  }

  #keepSweeping(): void {
    this.#sweeping = setInterval(() => this.#sweep(), sweepEveryMs);
    this.#sweeping.unref();
  }

  #assertOwner(): void {
    if (this.#isHandedOver) throw new HandedOver();
  }

  #saveSoon(): void {
    this.#saving ??= setTimeout(() => this.flush(), saveWithinMs);
  }

  #save(): void {
    if (this.#isLeft) return;
    try {
      this.deps.store.save(this.#all.map(({ record }) => record));
    } catch (error) {
      this.deps.onFault('code sessions could not be written', error);
    }
  }
}

/** Throws `bad_argument` where the session is of another language, kernel or account than is asked for now. */
function assertSame(session: CodeSession, spec: NewSession, accounts: Accounts): CodeSession {
  const { record } = session;
  const { language, kernel, user, onKernel = false } = spec;
  const wrong =
    record.language !== language
      ? `runs ${record.language}`
      : onKernel && poolKindOf(record.backend) !== 'kernel'
        ? 'runs in no kernel'
        : !onKernel && kernel !== null && record.kernel !== kernel
          ? `has the kernel ${record.kernel ?? 'of its language'}`
          : user !== null && !isSameAccount(accounts.resolve(user), accounts.resolve(record.user))
            ? `runs as ${record.account}`
            : null;
  if (wrong === null) return session;
  throw new CoreError('bad_argument', `session ${session.id} ${wrong}`, { hint: 'Use another session_id.' });
}

/** Of one name there may be several: with `uid:gid` a caller gives any group. */
function isSameAccount(a: Account, b: Account): boolean {
  return a.uid === b.uid && a.gid === b.gid;
}

function tooMany(kind: PoolKind, most: number): CoreError {
  const variable = kind === 'kernel' ? 'SVC_KERNEL_MAX_SESSIONS' : 'SVC_CODE_MAX_SESSIONS';
  const what = kind === 'kernel' ? 'kernels' : 'interpreters';
  return new CoreError('capacity_reached', `there are ${most} ${what}, which is the most`, {
    hint: `DELETE /v2/code/sessions/{id} closes one; ${variable} raises the number.`,
  });
}
