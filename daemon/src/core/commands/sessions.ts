/** Command sessions: a directory, an environment and an account that commands share; nothing else of them persists. */
import { CoreError } from '../../kit/errors.ts';
import { mintId } from '../../kit/ids.ts';
import type { EnvironmentChanges } from '../identity/environment.ts';
import { directoryRefusal } from './refusal.ts';

export interface SessionSpec {
  /** The caller's own id; an existing one answers its session. */
  readonly id: string | null;
  /** Absolute. */
  readonly cwd: string;
  readonly env: EnvironmentChanges;
  /** null is the default account. */
  readonly user: string | null;
  /** The name of its account when it was created. */
  readonly account: string;
  /** A script that the shell of each of its commands runs first; absolute. */
  readonly startupFile?: string;
  /** Goes when there are too many, unless a command runs in it: no caller chose to have it. */
  readonly isTransient?: boolean;
}

/** What a command leaves to the later ones of its session. */
export interface SessionChanges {
  readonly env?: EnvironmentChanges;
  readonly cwd?: string;
}

/** Plain data, so that it can be kept in a file as it is. */
export interface Session {
  readonly id: string;
  cwd: string;
  env: EnvironmentChanges;
  readonly user: string | null;
  readonly account: string;
  readonly startupFile?: string;
  readonly isTransient?: boolean;
  readonly createdMs: number;
  lastUsedMs: number;
  commandCount: number;
}

/** Where sessions are kept between two lives of the daemon. */
export interface SessionStore {
  load(): readonly Session[];
  save(sessions: readonly Session[]): void;
}

export interface SessionsDeps {
  readonly store: SessionStore;
  readonly maxSessions: number;
  readonly now: () => number;
  readonly onFault: (what: string, error: unknown) => void;
}

const saveWithinMs = 1000;
const keptClosed = 64;
const mostEnvironmentCharacters = 256 * 1024;

export class Sessions implements Disposable {
  readonly #byId = new Map<string, Session>();
  /** The oldest end first; for this life of the daemon. */
  #closed: readonly Session[] = [];
  #saving: ReturnType<typeof setTimeout> | null = null;

  constructor(private readonly deps: SessionsDeps) {}

  /** Takes up what was kept; called once, when no other daemon writes it any more. */
  load(): void {
    for (const session of this.deps.store.load()) this.#byId.set(session.id, session);
  }

  list(): Session[] {
    return [...this.#byId.values()];
  }

  /** The last ones that were deleted, and not created again since. */
  closed(): readonly Session[] {
    return this.#closed;
  }

  find(id: string): Session | null {
    return this.#byId.get(id) ?? null;
  }

  /** Throws `session_not_found`. */
  get(id: string): Session {
    const session = this.find(id);
    if (session) return session;
    throw new CoreError('session_not_found', `no session has the id ${id}`, {
      hint: 'POST /v2/commands/sessions creates one.',
    });
  }

  /** `busy` tells in which sessions commands run. */
  create(spec: SessionSpec, busy: () => ReadonlySet<string | null>): Session {
    const existing = spec.id === null ? null : this.find(spec.id);
    if (existing) return existing;
    const leaving = this.#byId.size < this.deps.maxSessions ? null : this.#oldestTransient(busy());
    const now = this.deps.now();
    const id = spec.id ?? mintId('ses', now);
    assertEnvironmentFits(spec.env);
    const session = { ...spec, id, createdMs: now, lastUsedMs: now, commandCount: 0 };
    const others = this.list().filter((other) => other !== leaving);
    if (spec.isTransient) this.#saveSoon();
    else this.#save([...others, session]);
    if (leaving) this.#byId.delete(leaving.id);
    this.#byId.set(id, session);
    this.#closed = this.#closed.filter((other) => other.id !== id);
    return session;
  }

  /** Notes a command that starts in the session, and keeps what it leaves. */
  use(session: Session, { env = {}, cwd = session.cwd }: SessionChanges): void {
    const isChanged = Object.keys(env).length > 0 || cwd !== session.cwd;
    session.env = { ...session.env, ...env };
    session.cwd = cwd;
    session.lastUsedMs = this.deps.now();
    session.commandCount += 1;
    if (isChanged && !session.isTransient) this.#saveNow();
    else this.#saveSoon();
  }

  /** Throws `bad_argument` when the session would hold more than it may. */
  assertRoom(session: Session, env: EnvironmentChanges): void {
    assertEnvironmentFits({ ...session.env, ...env });
  }

  delete(id: string): void {
    const session = this.get(id);
    this.#save(this.list().filter((other) => other !== session));
    this.#byId.delete(id);
    this.#closed = [...this.#closed, session].slice(-keptClosed);
  }

  /** As if it had never been: nobody was told of it. What is written next is without it; nothing is written for this. */
  drop(session: Session): void {
    this.#byId.delete(session.id);
  }

  /** Writes what is still to be written. */
  flush(): void {
    if (this.#saving) this.#saveNow();
  }

  [Symbol.dispose](): void {
    this.flush();
  }

  /** Throws `capacity_reached` when every session is there because a caller wants it, or is busy. */
  #oldestTransient(busy: ReadonlySet<string | null>): Session {
    const [oldest] = this.list()
      .filter(({ id, isTransient = false }) => isTransient && !busy.has(id))
      .toSorted((a, b) => a.lastUsedMs - b.lastUsedMs);
    if (oldest) return oldest;
    throw new CoreError('capacity_reached', `there are ${this.deps.maxSessions} command sessions, which is the most`, {
      hint: 'Delete one, or raise SVC_MAX_COMMAND_SESSIONS.',
    });
  }

  /** A busy session is written once a second: after a crash a second of its use may be missing, never a session. */
  #saveSoon(): void {
    this.#saving ??= setTimeout(() => this.#saveNow(), saveWithinMs);
  }

  #saveNow(): void {
    if (this.#saving) clearTimeout(this.#saving);
    this.#saving = null;
    try {
      this.#save(this.list());
    } catch (error) {
      this.deps.onFault('sessions could not be written', error);
    }
  }

  #save(sessions: readonly Session[]): void {
    try {
      this.deps.store.save(sessions);
    } catch (error) {
      throw directoryRefusal(error);
    }
  }
}

/** Sessions are kept for long, so that what one of them holds has a bound. */
function assertEnvironmentFits(env: EnvironmentChanges): void {
  const bytes = Object.entries(env).reduce((sum, [name, value]) => sum + name.length + (value?.length ?? 0), 0);
  if (bytes <= mostEnvironmentCharacters) return;
  throw new CoreError('bad_argument', `the environment of a session may have ${mostEnvironmentCharacters} characters`, {
    hint: 'Give large values to the commands that need them, in files.',
  });
}
