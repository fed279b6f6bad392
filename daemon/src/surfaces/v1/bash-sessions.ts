/** The 1.x routes of command sessions. */
import { z } from 'zod';
import { Answer } from '../../kit/answer.ts';
import { route } from './app.ts';
import { absolutePath, sessionId } from './bash-inputs.ts';
import { startsElsewhere } from './sentences.ts';
import { namedObject, systemText } from '../../operations/inputs.ts';
import { assertSession } from './bash-lookup.ts';
import { BashSessionInfo, sessionInfo } from './bash-views.ts';

export const createSession = route({
  operation: 'bash.create_session_v1',
  method: 'POST',
  path: '/v1/bash/sessions/create',
  summary: 'Create a session: an id, and where its commands start',
  body: namedObject('BashSessionCreateRequest', {
    session_id: sessionId.nullish().describe('The caller’s own id; an existing one answers its session.'),
    exec_dir: absolutePath.nullish().describe('Directory in which commands start; the workspace by default.'),
    snapshot_path: systemText.nullish().describe('A shell script that each of its commands sources first.'),
  }),
  data: BashSessionInfo,
  errors: ['capacity_reached', 'unavailable', 'no_space_left'],
  handle({ commands }, { body }) {
    const { session, isNew } = commands.obtainSession({
      id: body.session_id || null,
      cwd: body.exec_dir ?? null,
      env: {},
      user: null,
      startupFile: body.snapshot_path || null,
      isCwdOptional: true,
    });
    const info = sessionInfo(session, 'ready', commands.currentOf(session.id));
    const asked = isNew ? body.exec_dir : null;
    return !asked || asked === session.cwd ? info : new Answer(info, startsElsewhere(asked, session.cwd));
  },
});

export const listSessions = route({
  operation: 'bash.sessions_v1',
  method: 'GET',
  path: '/v1/bash/sessions',
  summary: 'List sessions, and those that were closed last',
  data: z.array(BashSessionInfo),
  handle: ({ commands }) => [
    ...commands.sessions().map((session) => sessionInfo(session, 'ready', commands.currentOf(session.id))),
    ...commands.closedSessions().map((session) => sessionInfo(session, 'closed', null)),
  ],
});

export const closeSession = route({
  operation: 'bash.close_session_v1',
  method: 'POST',
  path: '/v1/bash/sessions/{session_id}/close',
  summary: 'Close a session: end its commands, keep their output',
  params: z.object({ session_id: sessionId }),
  data: z.null(),
  errors: ['session_not_found', 'capacity_reached', 'unavailable', 'no_space_left'],
  async handle({ commands }, { params: { session_id: id } }) {
    const isClosed = commands.closedSessions().some((session) => session.id === id);
    if (!isClosed) {
      assertSession(commands, id);
      await commands.deleteSession(id);
    }
    return null;
  },
});
