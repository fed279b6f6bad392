/** The session that a 1.x request is about: found by its id, or opened where the route says so. */
import type { Terminal } from '../../core/terminals/terminal.ts';
import type { Terminals } from '../../core/terminals/terminals.ts';
import { CoreError } from '../../kit/errors.ts';
import { coreId } from './shell-ids.ts';
import { sessionNotFound } from './shell-refusals.ts';

export interface WantedSession {
  /** None, or an empty one, is a session of its own. */
  readonly id: string | null | undefined;
  /** Where it begins when it is not there. */
  readonly directory?: string | null;
  readonly isLogical?: boolean;
  /** It begins at home where its directory cannot be. */
  readonly isOptional?: boolean;
  readonly noChangeTimeoutMs?: number | null;
}

const size = { cols: 80, rows: 24 };

/** The session of that id, or a new one that has its prompt. Throws `bad_argument`, `capacity_reached`, `unavailable`. */
export async function openSession(terminals: Terminals, wanted: WantedSession, signal: AbortSignal): Promise<Terminal> {
  const terminal = await terminals.create({
    id: wanted.id ? coreId(wanted.id) : null,
    cwd: wanted.directory || null,
    isCwdLogical: Boolean(wanted.directory) && wanted.isLogical === true,
    isCwdOptional: wanted.isOptional ?? false,
    env: {},
    user: null,
    size,
    // A 1.x client closes no session, whatever its name is: only time does.
    retention: 'expiring',
    noChangeTimeoutMs: wanted.noChangeTimeoutMs ?? null,
  });
  terminal.touch();
  await terminals.executions.ready(terminal, signal);
  return terminal;
}

/** Throws `terminal_not_found`, in the words that 1.x clients know. */
export function sessionOf(terminals: Terminals, id: string): Terminal {
  try {
    const terminal = terminals.get(coreId(id));
    terminal.touch();
    return terminal;
  } catch (error) {
    const isMissing = error instanceof CoreError && ['terminal_not_found', 'bad_argument'].includes(error.code);
    throw isMissing ? sessionNotFound() : error;
  }
}
