/** The 1.x routes of shell sessions: made, changed, listed, counted and closed. */
import { z } from 'zod';
import { publicOrigin } from '../../http/origin.ts';
import { Answer } from '../../http/route.ts';
import { CoreError } from '../../kit/errors.ts';
import { route } from './app.ts';
import { coreId, wireId } from './shell-ids.ts';
import { execDirectory, milliseconds, preserveSymlinks, sessionId, wholeSeconds } from './shell-inputs.ts';
import { openSession, sessionOf } from './shell-lookup.ts';
import {
  ActiveShellSessionsResult,
  sessionInfo,
  ShellCreateSessionResponse,
  ShellSessionStats,
} from './shell-views.ts';

const noChangeTimeout = wholeSeconds
  .nullish()
  .describe('Seconds without new output after which exec answers no_change_timeout; 120 unless told otherwise.');

export const createSession = route({
  operation: 'shell.create_v1',
  method: 'POST',
  path: '/v1/shell/sessions/create',
  summary: 'Create a shell session, or answer the one of that id',
  body: z
    .object({
      id: sessionId.optional().describe('One is made up when it is left out or empty.'),
      exec_dir: execDirectory,
      no_change_timeout: noChangeTimeout,
      preserve_symlinks: preserveSymlinks,
    })
    .meta({ id: 'ShellCreateSessionRequest' }),
  data: ShellCreateSessionResponse,
  errors: ['bad_argument', 'capacity_reached', 'unavailable', 'no_space_left'],
  async handle({ terminals }, { body, context }) {
    const isThere = Boolean(body.id) && terminals.list().some(({ id }) => id === coreId(body.id ?? ''));
    const wanted = {
      id: body.id,
      directory: body.exec_dir ?? null,
      isLogical: body.preserve_symlinks ?? false,
      noChangeTimeoutMs: milliseconds(body.no_change_timeout),
    };
    const terminal = await openSession(terminals, wanted, context.signal);
    // Where the links lead to is known to the system alone; what the shell calls it is what was asked for.
    const directory = isThere || !wanted.isLogical ? terminal.directory : terminal.record.cwd;
    return { session_id: wireId(terminal.id), working_dir: directory };
  },
});

export const updateSession = route({
  operation: 'shell.update_v1',
  method: 'POST',
  path: '/v1/shell/sessions/update',
  summary: 'Change the no_change_timeout of a shell session',
  body: z.object({ id: sessionId, no_change_timeout: noChangeTimeout }).meta({ id: 'ShellUpdateSessionRequest' }),
  data: z.object({ session_id: z.string(), no_change_timeout: z.number().nullable() }),
  errors: ['terminal_not_found'],
  handle({ terminals }, { body }) {
    const { id, record } = sessionOf(terminals, body.id);
    if (body.no_change_timeout !== undefined) {
      record.noChangeTimeoutMs = milliseconds(body.no_change_timeout);
      terminals.keep();
    }
    const { noChangeTimeoutMs } = record;
    return {
      session_id: wireId(id),
      no_change_timeout: noChangeTimeoutMs === null ? null : noChangeTimeoutMs / 1000,
    };
  },
});

export const listSessions = route({
  operation: 'shell.list_v1',
  method: 'GET',
  path: '/v1/shell/sessions',
  summary: 'List the shell sessions',
  data: ActiveShellSessionsResult,
  errors: [],
  handle({ terminals }) {
    const now = Date.now();
    const entries = terminals.list().map((terminal) => [wireId(terminal.id), sessionInfo(terminal, now)] as const);
    return { sessions: Object.fromEntries(entries) };
  },
});

const activeMs = 300_000;

export const countSessions = route({
  operation: 'shell.stats_v1',
  method: 'GET',
  path: '/v1/shell/sessions/stats',
  summary: 'Count the shell sessions',
  data: ShellSessionStats,
  errors: [],
  handle({ terminals }) {
    const now = Date.now();
    const living = terminals.list().filter(({ isTerminated }) => !isTerminated);
    const active = living.filter(
      ({ record, attached, status }) => now - record.lastUsedMs < activeMs || attached > 0 || status === 'running',
    );
    return {
      total_sessions: living.length,
      active_sessions: active.length,
      idle_sessions: living.length - active.length,
      max_sessions: terminals.max,
      session_timeout: Math.round(terminals.idleMs / 1000),
      usage_ratio: Math.min(1, living.length / terminals.max),
    };
  },
});

export const getTerminalUrl = route({
  operation: 'shell.terminal_url_v1',
  method: 'GET',
  path: '/v1/shell/terminal-url',
  summary: 'Create a shell session, and tell the URL of a page that shows it',
  data: z.string(),
  errors: ['capacity_reached', 'unavailable', 'no_space_left'],
  async handle({ terminals }, { context }) {
    const { id } = await openSession(terminals, { id: null }, context.signal);
    return `${publicOrigin(context.headers)}/#/terminal/${id}`;
  },
});

export const closeSession = route({
  operation: 'shell.close_v1',
  method: 'DELETE',
  path: '/v1/shell/sessions/{session_id}',
  summary: 'Close a shell session: end its shell and all that this has started',
  params: z.object({ session_id: sessionId }),
  data: z.object({ session_id: z.string() }),
  errors: ['terminal_not_found', 'unavailable'],
  async handle({ terminals }, { params }) {
    const { id } = sessionOf(terminals, params.session_id);
    await terminals.close(id);
    return new Answer({ session_id: wireId(id) }, { message: 'Session closed' });
  },
});

export const closeAllSessions = route({
  operation: 'shell.close_all_v1',
  method: 'DELETE',
  path: '/v1/shell/sessions',
  summary: 'Close every shell session',
  data: z.object({ cleaned_sessions: z.number().int() }),
  errors: ['unavailable'],
  async handle({ terminals }) {
    const closed = await Promise.all(terminals.list().map(async ({ id }) => await isClosed(() => terminals.close(id))));
    const count = closed.filter(Boolean).length;
    return new Answer({ cleaned_sessions: count }, { message: `${count} sessions closed` });
  },
});

/** False when somebody else has closed it meanwhile. */
async function isClosed(close: () => Promise<void>): Promise<boolean> {
  try {
    await close();
    return true;
  } catch (error) {
    if (error instanceof CoreError && error.code === 'terminal_not_found') return false;
    throw error;
  }
}
