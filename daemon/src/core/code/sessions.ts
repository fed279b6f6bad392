/** Keeps the code sessions: makes them, runs cells in them, finds them again after a restart, and closes idle ones. */
import { CoreError } from '../../kit/errors.ts';
import { Deadline } from '../../kit/deadline.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import { mintId } from '../../kit/ids.ts';
import type { Recovered } from '../../platform/spawn.ts';
import type { Account, Accounts } from '../identity/accounts.ts';
import type { EnvironmentChanges } from '../identity/environment.ts';
import { absolute } from '../identity/places.ts';
import type { Backends } from './backends.ts';
import type { Cell, CellRequest } from './cell.ts';
import type { LargeValues } from './large-values.ts';
import { poolKindOf, type Language, type PoolKind } from './language.ts';
import { CodeSession, type RunningCell, type SessionRecord } from './session.ts';
import { SessionRecords } from './session-records.ts';
import { SessionRecovery, type KernelRecovery } from './session-recovery.ts';
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

export interface CodeSessionsDeps {
  readonly backends: Backends;
  readonly spare: SpareInterpreters;
  readonly accounts: Accounts;
  readonly limits: Readonly<Record<PoolKind, SessionLimits>>;
  readonly largeValues: LargeValues;
  readonly kernels: KernelRecovery & { close(): void };
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

export class CodeSessions implements Disposable {
  readonly #byId = new Map<string, CodeSession>();
  readonly #opening = new Map<string, Promise<CodeSession>>();
  readonly #single: SingleRuns;
  readonly #records: SessionRecords;
  #sweeping: ReturnType<typeof setInterval> | null = null;
  #isHandedOver = false;

  constructor(private readonly deps: CodeSessionsDeps) {
    const { scratch, store, onFault } = deps;
    this.#single = new SingleRuns({ scratch, onFault, isHandedOver: () => this.#isHandedOver });
    this.#records = new SessionRecords({ store, onFault, all: () => this.#all.map(({ record }) => record) });
    this.#keepSweeping();
  }

  /** Takes over what an earlier daemon left; answers what is no interpreter. Called once, before anything is served. */
  async recover(recovered: readonly Recovered[]): Promise<Recovered[]> {
    this.deps.largeValues.recover();
    const recovery = new SessionRecovery({
      ...this.deps,
      single: this.#single,
      makeSession: (record) => this.#session(record),
      keep: (session) => this.#keep(session),
    });
    const others = await recovery.run(this.deps.store.load(), recovered);
    this.deps.spare.fill();
    return others;
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
    this.#records.saveSoon();
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
    this.#records.leave();
  }

  /** The other daemon has gone before it served. */
  takeBack(): void {
    this.#isHandedOver = false;
    for (const session of this.#all) session.takeBack();
    this.#records.takeBack();
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
    this.#records.flush();
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
      this.#records.saveSoon();
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
      onChange: (isUrgent) => (isUrgent ? this.#records.save() : this.#records.saveSoon()),
      onFault,
    });
  }

  #note(record: SessionRecord, interpreter: string): void {
    record.interpreter = interpreter;
    this.#records.save();
  }

  #keep(session: CodeSession): void {
    if (session.record.isSingle) this.#single.add(session);
    else this.#byId.set(session.id, session);
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
