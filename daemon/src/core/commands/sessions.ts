/** Command sessions: a directory, an environment and an account that commands share; nothing else of them persists. */
import { CoreError } from '../../kit/errors.ts';
import { mintId } from '../../kit/ids.ts';
import type { EnvironmentChanges } from './environment.ts';

export interface SessionSpec {
  /** The caller's own id; an existing one answers its session. */
  readonly id: string | null;
  /** Absolute. */
  readonly cwd: string;
  readonly env: EnvironmentChanges;
  /** null is the default account. */
  readonly user: string | null;
}

/** Plain data, so that it can be kept in a file as it is. */
export interface Session {
  readonly id: string;
  cwd: string;
  env: EnvironmentChanges;
  readonly user: string | null;
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
}

export class Sessions {
  readonly #byId: Map<string, Session>;

  constructor(private readonly deps: SessionsDeps) {
    this.#byId = new Map(deps.store.load().map((session) => [session.id, session]));
  }

  list(): Session[] {
    return [...this.#byId.values()];
  }

  /** Throws `session_not_found`. */
  get(id: string): Session {
    const session = this.#byId.get(id);
    if (session) return session;
    throw new CoreError('session_not_found', `no session has the id ${id}`, {
      hint: 'POST /v2/commands/sessions creates one.',
    });
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  create(spec: SessionSpec): Session {
    const existing = spec.id === null ? undefined : this.#byId.get(spec.id);
    if (existing) return existing;
    if (this.#byId.size >= this.deps.maxSessions) {
      throw new CoreError(
        'capacity_reached',
        `there are ${this.deps.maxSessions} command sessions, which is the most`,
        {
          hint: 'Delete one, or raise SVC_MAX_COMMAND_SESSIONS.',
        },
      );
    }
    const now = this.deps.now();
    const id = spec.id ?? mintId('ses', now);
    const session = { ...spec, id, createdMs: now, lastUsedMs: now, commandCount: 0 };
    this.#byId.set(id, session);
    this.#save();
    return session;
  }

  /** Notes a command that starts in the session; `env` stays for its later commands. */
  use(session: Session, env: EnvironmentChanges): void {
    session.env = { ...session.env, ...env };
    session.lastUsedMs = this.deps.now();
    session.commandCount += 1;
    this.#save();
  }

  delete(id: string): void {
    this.get(id);
    this.#byId.delete(id);
    this.#save();
  }

  #save(): void {
    this.deps.store.save(this.list());
  }
}
