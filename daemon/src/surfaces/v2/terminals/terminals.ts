/** The v2 routes of terminal sessions. */
import { z } from 'zod';
import { signalNames } from '../../../core/commands/kill.ts';
import { CoreError } from '../../../kit/errors.ts';
import { Answer } from '../../../kit/answer.ts';
import { route } from '../app.ts';
import { sameValue } from '../../../http/route/same-value.ts';
import { created, keptAdvice } from '../created.ts';
import { clientId, cols, environment, milliseconds, oneOf, rows, systemText } from '../../../operations/inputs.ts';
import { noChangeTimeout, terminalName, TerminalPath } from './inputs.ts';
import { TerminalSession, terminalSession } from './views.ts';

const keptNameAdvice = {
  hint: 'The session with this id was there already, with another name. PATCH /v2/pty/sessions/{id} changes the name.',
};

export const createTerminal = route({
  operation: 'terminals.create',
  method: 'POST',
  path: '/v2/pty/sessions',
  summary: 'Create a terminal session: a shell at a terminal of its own',
  body: z
    .object({
      id: clientId.optional().describe('The caller’s own id; an existing one answers its session.'),
      session_id: clientId.optional().describe('An alias of id.'),
      name: terminalName
        .optional()
        .describe('What people call the session, in one line. An existing one keeps its name.'),
      cwd: systemText.min(1).optional().describe('Directory in which the shell starts; the workspace by default.'),
      env: environment.default({}).describe('Variables of the shell; null unsets one.'),
      user: systemText.min(1).optional().describe('Account of its shell; the default account otherwise.'),
      cols: cols.optional().describe('Columns, 80 by default.'),
      rows: rows.optional().describe('Rows, 24 by default.'),
      retention: z
        .enum(['persistent', 'expiring'])
        .optional()
        .describe('expiring: closed after an hour without use. A session with an id persists by default.'),
      no_change_timeout: noChangeTimeout.optional(),
    })
    .superRefine(sameValue('id', 'session_id'))
    .meta(oneOf('id', 'session_id')),
  data: TerminalSession.extend({ created }),
  errors: ['bad_argument', 'session_exists', 'capacity_reached', 'unavailable', 'no_space_left'],
  async handle({ terminals }, { body, context }) {
    const { env, cols, rows, name = null, cwd = null, user = null, retention = null, no_change_timeout: quiet } = body;
    using opened = await terminals.open({
      id: body.id ?? body.session_id ?? null,
      name,
      cwd,
      env,
      user,
      size: { cols: cols ?? 80, rows: rows ?? 24 },
      retention,
      noChangeTimeoutMs: milliseconds(quiet ?? null),
    });
    const { terminal, isNew } = opened;
    context.about(terminal.id);
    const noChangeTimeoutMs = quiet === undefined ? undefined : milliseconds(quiet);
    if (!isNew) terminals.assertSame(terminal, { cwd, env, user, cols, rows, retention, noChangeTimeoutMs });
    const hint = `GET /v2/pty/sessions/${terminal.id}/ws attaches a terminal to it; POST /v2/pty/sessions/${terminal.id}/exec runs a command in it.`;
    const keepsName = body.name !== undefined && name !== (terminal.record.name ?? null);
    const advice = isNew ? { hint } : keepsName ? keptNameAdvice : keptAdvice;
    return new Answer({ ...terminalSession(terminal), created: isNew }, advice);
  },
});

export const listTerminals = route({
  operation: 'terminals.list',
  method: 'GET',
  path: '/v2/pty/sessions',
  summary: 'List terminal sessions',
  data: z.object({
    sessions: z.record(z.string(), TerminalSession).describe('By their ids, in the order of their creation.'),
    stats: z.object({
      total_sessions: z.int().describe('Sessions with a living shell.'),
      max_sessions: z.int().describe('Maximum number of live sessions.'),
    }),
  }),
  handle({ terminals }) {
    const all = terminals.list();
    return {
      sessions: Object.fromEntries(all.map((terminal) => [terminal.id, terminalSession(terminal)])),
      stats: { total_sessions: all.filter(({ isTerminated }) => !isTerminated).length, max_sessions: terminals.max },
    };
  },
});

export const getTerminal = route({
  operation: 'terminals.get',
  method: 'GET',
  path: '/v2/pty/sessions/{id}',
  summary: 'Inspect a terminal session',
  params: TerminalPath,
  data: TerminalSession,
  errors: ['terminal_not_found'],
  handle: ({ terminals }, { params }) => terminalSession(terminals.get(params.id)),
});

export const resizeTerminal = route({
  operation: 'terminals.resize',
  method: 'PATCH',
  path: '/v2/pty/sessions/{id}',
  summary: 'Change the size, the name or the no_change_timeout of a terminal session',
  params: TerminalPath,
  body: z.object({
    cols: cols.optional(),
    rows: rows.optional(),
    name: terminalName.optional().describe('null removes it.'),
    no_change_timeout: noChangeTimeout.optional(),
  }),
  data: TerminalSession,
  errors: ['terminal_not_found', 'terminal_ended'],
  handle({ terminals }, { params, body }) {
    const terminal = terminals.get(params.id);
    if (body.cols !== undefined || body.rows !== undefined) terminal.resize(body);
    if (body.name !== undefined) terminal.rename(body.name);
    if (body.no_change_timeout !== undefined) terminal.setNoChangeTimeout(milliseconds(body.no_change_timeout));
    terminals.flush();
    return terminalSession(terminal);
  },
});

export const closeTerminal = route({
  operation: 'terminals.close',
  method: 'DELETE',
  path: '/v2/pty/sessions/{id}',
  summary: 'Close a terminal session: end its shell and everything started by it',
  params: TerminalPath,
  data: z.object({ session_id: z.string() }),
  errors: ['terminal_not_found', 'unavailable'],
  async handle({ terminals }, { params }) {
    await terminals.close(params.id);
    return { session_id: params.id };
  },
});

export const typeIntoTerminal = route({
  operation: 'terminals.input',
  method: 'POST',
  path: '/v2/pty/sessions/{id}/input',
  summary: 'Type into a terminal session',
  params: TerminalPath,
  body: z.object({
    input: z.string().describe('As a keyboard would send it: \\u0003 is Ctrl-C, \\r is Enter.'),
    press_enter: z.boolean().default(false).describe('Type Enter after the input.'),
  }),
  data: z.object({
    session_id: z.string(),
    accepted_bytes: z.int().describe('Accepted bytes of the input in UTF-8; fewer than all when no program reads it.'),
  }),
  errors: ['terminal_not_found', 'terminal_ended'],
  async handle({ terminals }, { params, body, context }) {
    const bytes = Buffer.from(body.press_enter ? `${body.input}\r` : body.input);
    const accepted = await terminals.get(params.id).input.type(bytes, context.signal);
    return { session_id: params.id, accepted_bytes: accepted };
  },
});

export const signalTerminal = route({
  operation: 'terminals.signal',
  method: 'POST',
  path: '/v2/pty/sessions/{id}/signal',
  summary: 'Send a signal to the job in the foreground of a terminal session',
  params: TerminalPath,
  body: z.object({ signal: z.enum(signalNames).default('SIGINT') }),
  data: z.object({ session_id: z.string(), signal: z.string() }),
  errors: ['terminal_not_found', 'terminal_ended', 'forbidden', 'not_implemented'],
  handle({ terminals }, { params, body }) {
    if (!terminals.get(params.id).signal(body.signal)) {
      throw new CoreError('terminal_ended', `no program is in the foreground of session ${params.id}`);
    }
    return { session_id: params.id, signal: body.signal };
  },
});
