/** Manages the code sessions: creates them, runs cells, recovers sessions after a restart, and closes idle sessions. */
import { CoreError } from '../../../kit/errors.ts';
import { Deadline } from '../../../kit/deadline.ts';
import { lookEvery } from '../../../kit/events/look-every.ts';
import { mintId } from '../../../kit/ids.ts';
import type { Ownership } from '../../../kit/ownership.ts';
import { settled } from '../../../kit/settled.ts';
import type { RecordStore } from '../../../platform/stores/record-store.ts';
import type { Recovered } from '../../../platform/process/spawn.ts';
import type { Accounts } from '../../identity/accounts.ts';
import { directoryOf } from '../../processes/directory.ts';
import type { Backends } from '../backends/backends.ts';
import type { KernelBackend } from '../backends/kernel.ts';
import { tooManySessions } from './capacity.ts';
import type { Cell } from '../cells/cell.ts';
import type { LargeValues } from '../cells/large-values.ts';
import { poolKindOf, type PoolKind } from '../language.ts';
import type { CellSpec, NewSession, SessionLimits } from './requests.ts';
import { assertSame } from './same-session.ts';
import { CodeSession, type SessionDeps } from './session.ts';
import type { RunningCell, SessionRecord } from './record.ts';
import { SessionRecovery } from './recovery.ts';
import { SingleRuns, type Scratch } from './single-runs.ts';
import type { SpareInterpreters } from './spare-interpreters.ts';

export interface CodeSessionsDeps {
  readonly ownership: Ownership;
  readonly backends: Backends;
  readonly spare: SpareInterpreters;
  readonly accounts: Accounts;
  readonly limits: Readonly<Record<PoolKind, SessionLimits>>;
  readonly largeValues: LargeValues;
  readonly kernels: KernelBackend;
  readonly scratch: Scratch;
  readonly store: RecordStore<SessionRecord>;
  readonly notes: SessionDeps['notes'] & { load(id: string): RunningCell | null };
  readonly isDying: (pid: number) => boolean;
  readonly now: () => number;
  readonly onFault: (what: string, error: unknown) => void;
}

/** Sessions closed by themselves whose clients may come back. */
const maxForgotten = 100;
/** Total length of waiting code in all sessions. */
const maxWaitingCharacters = 64 * 1024 * 1024;
const sweepEveryMs = 1000;

export class CodeSessions implements Disposable {
  readonly #byId = new Map<string, CodeSession>();
  readonly #opening = new Map<string, Promise<CodeSession>>();
  /** The records of sessions that were closed without a request, oldest first. */
  readonly #forgotten = new Map<string, SessionRecord>();
  readonly #single: SingleRuns;
  #sweeping: ReturnType<typeof setInterval> | null = null;

  constructor(private readonly deps: CodeSessionsDeps) {
    const { limits, ownership, scratch, onFault } = deps;
    this.#single = new SingleRuns({ limits, ownership, scratch, onFault });
    this.#keepSweeping();
  }

  /** Takes over the sessions of an earlier daemon. Called once, before the daemon serves requests. */
  async recover(recovered: readonly Recovered[]): Promise<void> {
    this.deps.largeValues.recover();
    const isForgotten = ({ isForgotten: is = false }: SessionRecord) => is;
    const all = this.deps.store.open(() => [...this.#all.map(({ record }) => record), ...this.#forgotten.values()]);
    for (const record of all.filter(isForgotten)) this.#forgotten.set(record.id, record);
    const stored = all.filter((record) => !isForgotten(record));
    const recovery = new SessionRecovery({
      ...this.deps,
      single: this.#single,
      makeSession: (record) => this.#session(record),
      keep: (session) => this.#keep(session),
    });
    await recovery.run(stored, recovered);
    this.deps.spare.fill();
  }

  /** Returns or creates the session with this id. Throws `capacity_reached`, `bad_argument`, `unavailable`. */
  async obtain(spec: NewSession): Promise<{ session: CodeSession; isNew: boolean }> {
    this.deps.ownership.assertOwned();
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

  /**
   * Throws the errors of `obtain`, of `CodeSession.enqueue` and of `Scratch`. A single run waits for its turn until its
   * timeout, or until the daemon closes.
   */
  async execute(spec: CellSpec, closing: AbortSignal): Promise<{ session: CodeSession; cell: Cell }> {
    this.#assertRoom(spec.code);
    const { sessionId, ...rest } = spec;
    const begin = { ...rest, id: sessionId, cwd: spec.entersDirectory === true ? null : spec.cwd };
    if (sessionId !== null) {
      const { session } = await this.obtain(begin);
      return { session, cell: await this.#enqueue(session, spec) };
    }
    this.deps.ownership.assertOwned();
    const session = await this.#make(mintId('one', this.deps.now()), begin, true);
    await this.#single.open(session, {
      characters: spec.code.length,
      withinMs: spec.timeoutMs,
      hasDirectory: spec.hasOwnDirectory === true && spec.cwd === null,
      closing,
    });
    let cell: Cell | null = null;
    try {
      cell = await this.#enqueue(session, spec);
      return { session, cell };
    } finally {
      void this.#single.closeBehind(session, cell);
    }
  }

  /** Waits for a session that is being created. Null when there is no session with this id. */
  async find(id: string): Promise<CodeSession | null> {
    this.deps.ownership.assertOwned();
    const opening = this.#opening.get(id)?.catch(() => null); // The caller that creates the session gets the error.
    return (await opening) ?? this.#byId.get(id) ?? null;
  }

  idleLimitMs({ record }: CodeSession): number {
    return record.idleMs ?? this.deps.limits[poolKindOf(record.backend)].idleMs;
  }

  /** Throws `session_not_found`. */
  get(id: string): CodeSession {
    this.deps.ownership.assertOwned();
    const session = this.#byId.get(id);
    if (session) return session;
    throw new CoreError('session_not_found', `no code session has the id ${id}`, {
      next: { operation: 'code.start' },
    });
  }

  /** Sessions in the order of their creation. */
  list(): CodeSession[] {
    this.deps.ownership.assertOwned();
    return [...this.#byId.values()].toSorted((a, b) => a.record.createdMs - b.record.createdMs);
  }

  /** Ends the interpreter of the session with all its child processes. Throws `session_not_found`. */
  async close(id: string): Promise<void> {
    const session = this.get(id);
    this.#byId.delete(id);
    this.deps.store.save(); // After a crash, a closed session must not be there again.
    await session.close();
  }

  /** The number of living interpreters of a kind, in sessions and single runs. */
  living(kind: PoolKind): number {
    return ofKind(this.#all, kind).filter(({ isWithoutProcess }) => !isWithoutProcess).length;
  }

  /** Starts no more interpreters and hands all sessions over to another daemon. */
  async handOver(calledOff: AbortSignal): Promise<void> {
    if (this.#sweeping) clearInterval(this.#sweeping);
    await settled(this.#opening.values(), calledOff);
    if (calledOff.aborted) return;
    for (const session of this.#all) session.handOver();
    this.deps.store.save();
  }

  /** Takes the sessions back after the other daemon died before it served. */
  takeBack(): void {
    for (const session of this.#all) session.takeBack();
    this.deps.store.saveSoon();
    this.#keepSweeping();
  }

  /** Resumes what is sent to interpreters after another daemon had their processes. */
  resumeInput(): void {
    for (const session of this.#all) session.resumeInput();
    this.deps.kernels.resumeInput();
  }

  /** Lets all interpreters of this daemon end as programs do. Their keepers kill those that take longer. */
  async letEnd(graceMs: number): Promise<void> {
    if (!this.deps.ownership.isOwned) return;
    await Promise.allSettled(this.#all.map(async (session) => session.letEnd(graceMs)));
  }

  /** Ends interpreters on other machines that this daemon still owns. Local interpreters end with their keepers. */
  async endElsewhere(withinMs: number): Promise<void> {
    using deadline = new Deadline(withinMs);
    const ends = this.#all.map(async (session) => session.endElsewhere());
    await settled(ends, deadline.signal);
  }

  /** Ends the single runs that have a directory. Resolves when nothing of them is left. */
  async settle(): Promise<void> {
    await this.#single.settle();
  }

  [Symbol.dispose](): void {
    if (this.#sweeping) clearInterval(this.#sweeping);
    this.deps.spare[Symbol.dispose]();
    if (this.deps.ownership.isOwned) {
      this.deps.largeValues.close();
      this.deps.kernels.close();
    }
    this.deps.store.flush();
  }

  get #all(): CodeSession[] {
    return [...this.#byId.values(), ...this.#single.all];
  }

  async #open(id: string, spec: NewSession): Promise<CodeSession> {
    const session = await this.#make(id, spec, false);
    this.#makeRoom(poolKindOf(session.record.backend));
    this.#byId.set(id, session);
    // The client of a closed session expects its state. Its first cell reports that the state is gone.
    const isBack = this.#forgotten.has(id);
    try {
      await session.open();
      if (isBack) session.followLoss({ cause: 'idle', signal: null, oomKilled: false });
      this.#forgotten.delete(id);
    } catch (error) {
      this.#byId.delete(id);
      this.deps.store.saveSoon();
      throw error;
    }
    return session;
  }

  async #enqueue(session: CodeSession, spec: CellSpec): Promise<Cell> {
    const { code, cellEnv, env, files, formats, timeoutMs } = spec;
    // `~` is the home directory of the session's account, which runs the code.
    const { user } = session.record;
    const cwd = spec.cwd === null ? (session.record.scratch ?? null) : directoryOf(this.deps.accounts, spec.cwd, user);
    if (files) await this.deps.scratch.fill(cwd ?? session.record.cwd, files, user);
    const queuedMs = this.deps.now();
    const { isSingle: isProgram } = session.record;
    const id = mintId('cell', queuedMs);
    return session.enqueue({ id, queuedMs, code, cwd, env, cellEnv, formats, timeoutMs, isProgram });
  }

  async #make(id: string, spec: NewSession, isSingle: boolean): Promise<CodeSession> {
    const { language, kernel, cwd, env, user, onKernel = false, idleMs } = spec;
    const { backends } = this.deps;
    const account = this.deps.accounts.resolve(user).name;
    const backend = await (onKernel ? backends.chooseKernel(kernel, user) : backends.choose(language, kernel, user));
    const now = this.deps.now();
    return this.#session({
      id,
      language,
      backend: backend.name,
      kernel,
      user,
      account,
      cwd: directoryOf(this.deps.accounts, cwd, user),
      env,
      isSingle,
      ...(idleMs !== undefined && { idleMs }),
      createdMs: now,
      lastUsedMs: now,
      executionCount: 0,
      interpreter: null,
    });
  }

  /** Closes a session whose process has ended, because its state is lost already. Throws `capacity_reached`. */
  #makeRoom(kind: PoolKind): void {
    const { max } = this.deps.limits[kind];
    const sessions = ofKind([...this.#byId.values()], kind);
    if (sessions.length < max) return;
    const [oldest] = sessions
      .filter(({ isWithoutProcess }) => isWithoutProcess)
      .toSorted((a, b) => a.record.lastUsedMs - b.record.lastUsedMs);
    if (!oldest) throw tooManySessions(kind, max);
    this.#closeUnasked(oldest.id);
  }

  #closeUnasked(id: string): void {
    const { record } = this.get(id);
    this.#forgotten.delete(id);
    this.#forgotten.set(id, { ...record, env: {}, interpreter: null, isForgotten: true });
    for (const [oldest] of [...this.#forgotten].slice(0, -maxForgotten)) this.#forgotten.delete(oldest);
    this.close(id).catch((error: unknown) => this.deps.onFault(`session ${id} could not be closed`, error));
  }

  #session(record: SessionRecord): CodeSession {
    const { backends, isDying, largeValues, now, notes, onFault, spare } = this.deps;
    return new CodeSession(record, {
      start: async (of) => (await spare.take(of)) ?? (await backends.of(of).start(of, (id) => this.#note(of, id))),
      ...{ isDying, notes },
      shrink: (event, user) => largeValues.shrink(event, user),
      now,
      onChange: (isUrgent) => (isUrgent ? this.deps.store.save() : this.deps.store.saveSoon()),
      onFault,
    });
  }

  #note(record: SessionRecord, interpreter: string): void {
    record.interpreter = interpreter;
    this.deps.store.save();
  }

  #keep(session: CodeSession): void {
    if (session.record.isSingle) this.#single.add(session);
    else this.#byId.set(session.id, session);
  }

  /** Limits the total length of waiting code, because each waiting cell may be as large as a request. */
  #assertRoom(code: string): void {
    const sessions = [...this.#byId.values(), this.#single];
    const waiting = sessions.reduce((sum, { waitingCharacters }) => sum + waitingCharacters, 0);
    if (waiting === 0 || waiting + code.length <= maxWaitingCharacters) return;
    throw new CoreError('capacity_reached', `code of ${waiting} characters is already waiting`, {
      hint: 'Wait for the queued code, or interrupt the running code.',
    });
  }

  #sweep(): void {
    const now = this.deps.now();
    for (const session of this.#byId.values()) {
      const { id, record, state } = session;
      const isOpening = this.#opening.has(id);
      if (state === 'busy' || isOpening || now - record.lastUsedMs <= this.idleLimitMs(session)) continue;
      this.#closeUnasked(id);
    }
  }

  #keepSweeping(): void {
    this.#sweeping = lookEvery(sweepEveryMs, () => this.#sweep()).unref();
  }
}

function ofKind(sessions: readonly CodeSession[], kind: PoolKind): CodeSession[] {
  return sessions.filter(({ record }) => poolKindOf(record.backend) === kind);
}
