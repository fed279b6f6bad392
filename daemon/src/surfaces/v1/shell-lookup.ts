/** Finds the session of a 1.x request by its id, or opens it where the route allows it. */
import type { Terminal, TerminalUse } from '../../core/terminals/session/terminal.ts';
import type { Terminals } from '../../core/terminals/session/terminals.ts';
import { CoreError } from '../../kit/errors.ts';
import { coreId } from './shell-ids.ts';

export interface WantedSession {
  /** Null, undefined and the empty text request a new session. */
  readonly id: string | null | undefined;
  /** The initial directory of a new session. */
  readonly directory?: string | null;
  readonly isLogical?: boolean;
  /** Starts in the home directory if the given directory is unusable. */
  readonly isOptional?: boolean;
  readonly noChangeTimeoutMs?: number | null;
  readonly mayEvict?: boolean;
}

const size = { cols: 80, rows: 24 };

/**
 * Returns the session with this id, or a new session that shows its prompt. Until the caller disposes of the use, a
 * session without a name is not closed to make room for another. Throws `bad_argument`, `capacity_reached`,
 * `unavailable`.
 */
export async function openSession(
  terminals: Terminals,
  wanted: WantedSession,
  signal: AbortSignal,
): Promise<TerminalUse> {
  using opened = await terminals.open({
    id: wanted.id ? coreId(wanted.id) : null,
    cwd: wanted.directory || null,
    isCwdLogical: Boolean(wanted.directory) && wanted.isLogical === true,
    isCwdOptional: wanted.isOptional ?? false,
    env: {},
    user: null,
    size,
    // A 1.x client does not close sessions, named or not. Sessions expire.
    retention: 'expiring',
    isTransient: !wanted.id,
    noChangeTimeoutMs: wanted.noChangeTimeoutMs ?? null,
    mayEvict: wanted.mayEvict ?? true,
  });
  const { terminal } = opened;
  terminal.touch();
  await terminal.exec.ready(signal);
  return terminal.use();
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

function sessionNotFound(): CoreError {
  return new CoreError('terminal_not_found', 'Session not found', {
    hint: 'POST /v1/shell/sessions/create creates a session. A session that is not used is closed after a while.',
  });
}
