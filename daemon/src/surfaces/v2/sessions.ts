/** The v2 routes of command sessions. */
import { z } from 'zod';
import type { Session } from '../../core/commands/sessions.ts';
import { Answer } from '../../kit/answer.ts';
import { route, type V2Deps } from './app.ts';
import { sameValue } from '../../http/route/same-value.ts';
import { created, keptAdvice } from './created.ts';
import { clientId, environment, oneOf, systemText } from '../../operations/inputs.ts';
import { SessionRecord, sessionRecord } from './views.ts';

export const createSession = route({
  operation: 'commands.create_session',
  method: 'POST',
  path: '/v2/commands/sessions',
  summary: 'Create a session: a directory, an environment and an account that commands share',
  body: z
    .object({
      id: clientId.optional().describe('The caller’s own id; an existing one answers its session.'),
      session_id: clientId.optional().describe('An alias of id.'),
      cwd: systemText.min(1).optional().describe('Directory in which commands start; the workspace by default.'),
      env: environment.default({}).describe('Variables of the commands; null unsets one.'),
      user: systemText.min(1).optional().describe('Account of its commands; the default account otherwise.'),
    })
    .superRefine(sameValue('id', 'session_id'))
    .meta(oneOf('id', 'session_id')),
  data: SessionRecord.extend({ created }),
  errors: ['bad_argument', 'session_exists', 'capacity_reached', 'unavailable', 'no_space_left'],
  handle(deps, { body }) {
    const spec = {
      id: body.id ?? body.session_id ?? null,
      cwd: body.cwd ?? null,
      env: body.env,
      user: body.user ?? null,
    };
    const { session, isNew } = deps.commands.obtainSession(spec);
    if (!isNew) deps.commands.assertSame(session, spec);
    return new Answer({ ...viewOf(deps, session), created: isNew }, isNew ? {} : keptAdvice);
  },
});

export const listSessions = route({
  operation: 'commands.list_sessions',
  method: 'GET',
  path: '/v2/commands/sessions',
  summary: 'List command sessions',
  data: z.object({ sessions: z.array(SessionRecord) }),
  handle: (deps) => ({ sessions: deps.commands.sessions().map((session) => viewOf(deps, session)) }),
});

export const deleteSession = route({
  operation: 'commands.delete_session',
  method: 'DELETE',
  path: '/v2/commands/sessions/{session_id}',
  summary: 'Close a session: end its commands, keep their records',
  params: z.object({ session_id: clientId }),
  data: z.object({ session_id: z.string() }),
  errors: ['session_not_found', 'capacity_reached', 'unavailable', 'no_space_left'],
  async handle({ commands }, { params }) {
    await commands.deleteSession(params.session_id);
    return { session_id: params.session_id };
  },
});

function viewOf({ commands }: V2Deps, session: Session) {
  return sessionRecord(session, commands.currentOf(session.id));
}
