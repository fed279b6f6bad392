/** Keeps command sessions: a directory, an environment and an account that several commands share. */
import { CoreError } from '../../kit/errors.ts';
import { mintId } from '../../kit/ids.ts';
import type { RecordStore } from '../../platform/stores/record-store.ts';
import type { EnvironmentChanges } from '../processes/environment.ts';
import type { SessionValues } from '../processes/same-session.ts';
import { directoryRefusal } from './refusal.ts';

export interface SessionSpec extends Omit<SessionValues, 'id'> {
  /** An id chosen by the caller. An existing id returns its session. */
  readonly id: string | null;
  /** Absolute path of a script that the shell of every command in the session runs first. */
  readonly startupFile?: string;
  /** No caller named the session. The daemon may evict it when there are too many, unless a command runs in it. */
  readonly isTransient?: boolean;
}

/** Changes that a command leaves to later commands of its session. */
export interface SessionChanges {
  readonly env?: EnvironmentChanges;
  readonly cwd?: string;
}

/** Plain data, because it is stored in a file as it is. */
export interface Session extends SessionSpec {
  readonly id: string;
  cwd: string;
  env: EnvironmentChanges;
  readonly createdMs: number;
  lastUsedMs: number;
  commandCount: number;
}

export interface SessionsDeps {
  readonly store: RecordStore<Session>;
  readonly maxSessions: number;
  readonly now: () => number;
}

const keptClosed = 64;
const maxEnvironmentCharacters = 256 * 1024;

export class Sessions {
  readonly #byId = new Map<string, Session>();
  /** Ordered by closing time, oldest first. Kept in memory only. */
  #closed: readonly Session[] = [];

  constructor(private readonly deps: SessionsDeps) {}

  /** Loads the stored sessions. Called once, when no other daemon writes the store any more. */
  load(): void {
    for (const session of this.deps.store.open(() => this.list())) this.#byId.set(session.id, session);
  }

  list(): Session[] {
    return [...this.#byId.values()];
  }

  /** The most recently deleted sessions, except those created again since. */
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
      next: { operation: 'commandSessions.create' },
    });
  }

  /** `busy` returns the ids of sessions with running commands. */
  obtain(spec: SessionSpec, busy: () => ReadonlySet<string | null>): { session: Session; isNew: boolean } {
    const existing = spec.id === null ? null : this.find(spec.id);
    if (existing) return { session: existing, isNew: false };
    const leaving = this.#byId.size < this.deps.maxSessions ? null : this.#oldestTransient(busy());
    const now = this.deps.now();
    const id = spec.id ?? mintId('ses', now);
    assertEnvironmentFits(spec.env);
    const session = { ...spec, id, createdMs: now, lastUsedMs: now, commandCount: 0 };
    const others = this.list().filter((other) => other !== leaving);
    if (spec.isTransient) this.deps.store.saveSoon();
    else this.#write([...others, session]);
    if (leaving) this.#byId.delete(leaving.id);
    this.#byId.set(id, session);
    this.#closed = this.#closed.filter((other) => other.id !== id);
    return { session, isNew: true };
  }

  /** Records that a command starts in the session, and applies the changes that the command leaves. */
  use(session: Session, { env = {}, cwd = session.cwd }: SessionChanges): void {
    const isChanged = Object.keys(env).length > 0 || cwd !== session.cwd;
    session.env = { ...session.env, ...env };
    session.cwd = cwd;
    session.lastUsedMs = this.deps.now();
    session.commandCount += 1;
    if (isChanged && !session.isTransient) this.deps.store.save();
    else this.deps.store.saveSoon(); // A crash may lose usage data, but never a session.
  }

  /** Throws `bad_argument` if the environment would exceed its limit. */
  assertRoom(session: Session, env: EnvironmentChanges): void {
    assertEnvironmentFits({ ...session.env, ...env });
  }

  delete(id: string): void {
    const session = this.get(id);
    this.#write(this.list().filter((other) => other !== session));
    this.#byId.delete(id);
    this.#closed = [...this.#closed, session].slice(-keptClosed);
  }

  /** Removes a session that no caller knows of. The next save leaves it out; this call writes nothing. */
  drop(session: Session): void {
    this.#byId.delete(session.id);
  }

  /** Writes pending changes. */
  flush(): void {
    this.deps.store.flush();
  }

  /** Throws `capacity_reached` if every session was named by a caller or is busy. */
  #oldestTransient(busy: ReadonlySet<string | null>): Session {
    const [oldest] = this.list()
      .filter(({ id, isTransient = false }) => isTransient && !busy.has(id))
      .toSorted((a, b) => a.lastUsedMs - b.lastUsedMs);
    if (oldest) return oldest;
    throw new CoreError('capacity_reached', `there are ${this.deps.maxSessions} command sessions, which is the limit`, {
      hint: 'Close one, or raise SVC_MAX_COMMAND_SESSIONS.',
      next: { operation: 'commandSessions.close' },
    });
  }

  #write(sessions: readonly Session[]): void {
    try {
      this.deps.store.write(sessions);
    } catch (error) {
      throw directoryRefusal(error);
    }
  }
}

/** Sessions live long, so the size of each environment is limited. */
function assertEnvironmentFits(env: EnvironmentChanges): void {
  const bytes = Object.entries(env).reduce((sum, [name, value]) => sum + name.length + (value?.length ?? 0), 0);
  if (bytes <= maxEnvironmentCharacters) return;
  throw new CoreError('bad_argument', `the environment of a session may have ${maxEnvironmentCharacters} characters`, {
    hint: 'Pass large values in files to the commands that need them.',
  });
}
