/** The 1.x routes that create, update, list, count and close shell sessions. */
import { z } from 'zod';
import { publicOrigin } from '../../http/guard/origin.ts';
import { Answer } from '../../kit/answer.ts';
import { nullOn } from '../../kit/errno.ts';
import { route } from './app.ts';
import { coreId, wireId } from './shell-ids.ts';
import { milliseconds, namedObject } from '../../operations/inputs.ts';
import { execDirectory, preserveSymlinks, sessionId, wholeSeconds } from './shell-inputs.ts';
import { startsElsewhere } from './sentences.ts';
import { openSession, sessionOf } from './shell-lookup.ts';
import {
  ActiveShellSessionsResult,
  sessionInfo,
  ShellCreateSessionResponse,
  ShellSessionStats,
} from './shell-views.ts';

const noChangeTimeout = wholeSeconds
  .nullish()
  .describe('Seconds without new output after which exec answers no_change_timeout; 120 by default.');

export const createSession = route({
  operation: 'shell.create_v1',
  method: 'POST',
  path: '/v1/shell/sessions/create',
  summary: 'Create a shell session, or answer the one of that id',
  body: namedObject('ShellCreateSessionRequest', {
    id: sessionId.optional().describe('A new id is generated when it is absent or empty.'),
    exec_dir: execDirectory,
    no_change_timeout: noChangeTimeout,
    preserve_symlinks: preserveSymlinks,
  }),
  data: ShellCreateSessionResponse,
  errors: ['bad_argument', 'capacity_reached', 'unavailable', 'no_space_left'],
  async handle({ terminals }, { body, context }) {
    const isThere = Boolean(body.id) && terminals.list().some(({ id }) => id === coreId(body.id ?? ''));
    const wanted = {
      id: body.id,
      directory: body.exec_dir ?? null,
      isLogical: body.preserve_symlinks ?? false,
      isOptional: true,
      noChangeTimeoutMs: milliseconds(body.no_change_timeout),
    };
    using opened = await openSession(terminals, wanted, context.signal);
    const { terminal } = opened;
    // Only the system knows the resolved directory. The shell's logical directory is the requested one.
    const directory = isThere || !wanted.isLogical ? terminal.directory : terminal.record.cwd;
    const asked = body.exec_dir && !isThere ? terminals.directoryOf(terminal, body.exec_dir) : null;
    const session = { session_id: wireId(terminal.id), working_dir: directory };
    return asked === null || asked === terminal.record.cwd
      ? session
      : new Answer(session, startsElsewhere(asked, directory));
  },
});

export const updateSession = route({
  operation: 'shell.update_v1',
  method: 'POST',
  path: '/v1/shell/sessions/update',
  summary: 'Change the no_change_timeout of a shell session',
  body: namedObject('ShellUpdateSessionRequest', { id: sessionId, no_change_timeout: noChangeTimeout }),
  data: z.object({ session_id: z.string(), no_change_timeout: z.number().nullable() }),
  errors: ['terminal_not_found'],
  handle({ terminals }, { body }) {
    const terminal = sessionOf(terminals, body.id);
    if (body.no_change_timeout !== undefined) {
      terminal.setNoChangeTimeout(milliseconds(body.no_change_timeout));
      terminals.flush();
    }
    const { id, noChangeTimeoutMs } = terminal.record;
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
  hasEffect: true,
  summary: 'Create a shell session, and return the URL of a page that shows it',
  data: z.string(),
  errors: ['capacity_reached', 'unavailable', 'no_space_left'],
  async handle({ terminals }, { context }) {
    // A GET must not take a session from another client.
    using opened = await openSession(terminals, { id: null, mayEvict: false }, context.signal);
    return `${publicOrigin(context.headers)}/#/terminal/${opened.terminal.id}`;
  },
});

export const closeSession = route({
  operation: 'shell.close_v1',
  method: 'DELETE',
  path: '/v1/shell/sessions/{session_id}',
  summary: 'Close a shell session: end its shell and everything started by it',
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
  data: z.object({ cleaned_sessions: z.int() }),
  errors: ['unavailable'],
  async handle({ terminals }) {
    // Another client may close a session meanwhile.
    const closing = terminals.list().map(({ id }) => nullOn('terminal_not_found', terminals.close(id)));
    const count = (await Promise.all(closing)).filter((closed) => closed !== null).length;
    return new Answer({ cleaned_sessions: count }, { message: `${count} sessions closed` });
  },
});
