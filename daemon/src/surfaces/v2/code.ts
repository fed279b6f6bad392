/** The v2 routes of the code plane: wire shapes in, one core call each, views out. */
import { z } from 'zod';
import { describeLoss, describeTimeout, errorAdvice, exitAdvice, lossAdvice } from '../../core/code/cells/advice.ts';
import type { Cell } from '../../core/code/cells/cell.ts';
import { follow } from '../../core/code/cells/follow.ts';
import { languageWords } from '../../core/code/language.ts';
import type { CodeSession } from '../../core/code/sessions/session.ts';
import type { CellSpec } from '../../core/code/sessions/requests.ts';
import { NdjsonStream } from '../../http/stream/ndjson.ts';
import { Answer } from '../../kit/answer.ts';
import { Deadline } from '../../kit/deadline.ts';
import { route, type V2Deps } from './app.ts';
import {
  cellEndLine,
  CellLine,
  CellResult,
  cellResult,
  changeLine,
  CodeSessionDetail,
  codeSessionDetail,
  CodeSessionRecord,
  codeSession,
  ExecuteBody,
  kernel,
  language,
} from './code-views.ts';
import { sameValue } from '../../http/route/same-value.ts';
import { stoppingMessage } from '../../http/route/stopping.ts';
import { created, keptAdvice } from './created.ts';
import { clientId, environment, oneOf, systemText } from '../../operations/inputs.ts';

/** Sessions of 1.x clients have longer ids than a v2 client may choose. */
const SessionPath = z.object({ id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,255}$/) });

export const executeCode = route({
  operation: 'code.execute',
  method: 'POST',
  path: '/v2/code/execute',
  summary: 'Run code, alone or in a session, at once or as a stream',
  body: ExecuteBody,
  data: CellResult,
  lines: CellLine,
  errors: [
    'bad_argument',
    'kernel_unknown',
    'session_not_found',
    'session_busy',
    'capacity_reached',
    'unavailable',
    'no_space_left',
  ],
  async handle(deps, { body, context }) {
    const { session, cell } = await deps.code.execute(cellSpec(body), deps.closing);
    context.note.account = session.record.account;
    context.about(session.id);
    const isSingle = body.session_id === undefined;
    if (body.stream || context.headers.get('accept')?.includes('application/x-ndjson') === true) {
      return new NdjsonStream((signal) => streamLines(deps, { session, cell, isSingle }, signal));
    }
    using deadline = new Deadline(null, context.signal, deps.closing);
    await cell.finished(deadline.signal);
    if (cell.failure) throw cell.failure;
    const result = { ...cellResult(session, cell, isSingle), code: body.code };
    return new Answer(result, describe(session, cell, isSingle));
  },
});

export const createCodeSession = route({
  operation: 'code.create_session',
  method: 'POST',
  path: '/v2/code/sessions',
  summary: 'Create a code session: an interpreter that keeps its state',
  body: z
    .object({
      language: language.default('python'),
      id: clientId.optional().describe('The caller’s own id; one that exists answers its session.'),
      session_id: clientId.optional().describe('An alias of id.'),
      cwd: systemText.min(1).optional().describe('Initial directory; the workspace by default.'),
      env: environment.default({}).describe('Environment, kept by the session; null unsets.'),
      user: systemText.min(1).optional().describe('Account; the default account otherwise.'),
      kernel,
    })
    .superRefine(sameValue('id', 'session_id'))
    .meta(oneOf('id', 'session_id')),
  data: CodeSessionRecord.extend({ created }),
  errors: ['bad_argument', 'session_exists', 'kernel_unknown', 'capacity_reached', 'unavailable', 'no_space_left'],
  async handle({ code }, { body }) {
    const { session, isNew } = await code.obtain({
      id: body.id ?? body.session_id ?? null,
      language: languageWords[body.language],
      kernel: body.kernel ?? null,
      cwd: body.cwd ?? null,
      env: body.env,
      user: body.user ?? null,
      isExact: true,
    });
    const advice = isNew
      ? { hint: `POST /v2/code/execute with session_id ${session.id} runs code in it.` }
      : keptAdvice;
    return new Answer({ ...codeSession(session), created: isNew }, advice);
  },
});

export const listCodeSessions = route({
  operation: 'code.list_sessions',
  method: 'GET',
  path: '/v2/code/sessions',
  summary: 'List code sessions',
  data: z.object({
    sessions: z.record(z.string(), CodeSessionRecord).describe('By their ids, in the order of their creation.'),
  }),
  handle: ({ code }) => ({
    sessions: Object.fromEntries(code.list().map((session) => [session.id, codeSession(session)])),
  }),
});

export const getCodeSession = route({
  operation: 'code.get_session',
  method: 'GET',
  path: '/v2/code/sessions/{id}',
  summary: 'Inspect a code session, and read what its last cell has shown',
  params: SessionPath,
  data: CodeSessionDetail,
  errors: ['session_not_found'],
  handle: ({ code }, { params }) => codeSessionDetail(code.get(params.id)),
});

export const deleteCodeSession = route({
  operation: 'code.delete_session',
  method: 'DELETE',
  path: '/v2/code/sessions/{id}',
  summary: 'Delete a code session: end its interpreter and everything started by it',
  params: SessionPath,
  data: z.object({ session_id: z.string() }),
  errors: ['session_not_found', 'unavailable'],
  async handle({ code }, { params }) {
    await code.close(params.id);
    return { session_id: params.id };
  },
});

export const interruptCodeSession = route({
  operation: 'code.interrupt',
  method: 'POST',
  path: '/v2/code/sessions/{id}/interrupt',
  summary: 'Interrupt the running cell of a code session, as Ctrl-C does',
  params: SessionPath,
  data: z.object({ session_id: z.string(), interrupted: z.boolean().describe('false: nothing was running.') }),
  errors: ['session_not_found', 'unavailable'],
  async handle({ code }, { params }) {
    return { session_id: params.id, interrupted: await code.get(params.id).interrupt() };
  },
});

export const restartCodeSession = route({
  operation: 'code.restart',
  method: 'POST',
  path: '/v2/code/sessions/{id}/restart',
  summary: 'Give a code session a new interpreter, without the state',
  params: SessionPath,
  data: CodeSessionRecord,
  errors: ['session_not_found', 'unavailable', 'capacity_reached', 'no_space_left'],
  async handle({ code }, { params }) {
    const session = code.get(params.id);
    await session.restart();
    return codeSession(session);
  },
});

type WireLine = z.input<typeof CellLine>;

interface Execution {
  readonly session: CodeSession;
  readonly cell: Cell;
  readonly isSingle: boolean;
}

const heartbeatMs = 15_000;

async function* streamLines(
  { closing }: V2Deps,
  { session, cell, isSingle }: Execution,
  signal: AbortSignal,
): AsyncGenerator<WireLine> {
  yield { type: 'start', session_id: isSingle ? null : session.id, language: session.record.language };
  for await (const message of follow(cell, { silenceMs: heartbeatMs, signal, closing })) {
    if (message.kind === 'change') yield changeLine(message.change);
    else if (message.kind === 'silence') yield { type: 'heartbeat' };
    else yield cellEndLine(cell, isSingle, message.reason);
  }
}

function cellSpec(body: z.output<typeof ExecuteBody>): CellSpec {
  return {
    language: languageWords[body.language],
    kernel: body.kernel ?? null,
    code: body.code,
    sessionId: body.session_id ?? null,
    timeoutMs: body.timeout * 1000,
    cwd: body.cwd ?? null,
    env: body.env,
    user: body.user ?? null,
  };
}

function describe(session: CodeSession, cell: Cell, isSingle: boolean) {
  const { deathBefore, end, isEnding, record } = cell;
  const state = isSingle ? '' : `; GET /v2/code/sessions/${session.id} reports the state of the session`;
  if (end === null) return { message: stoppingMessage('code') };
  if (end.status === 'timeout') {
    const message = `The code ${describeTimeout(cell)} after ${record.timeoutMs / 1000} s`;
    const other = isEnding ? ', or run what does not end as a command or in a session' : '';
    return { message, isFailure: true, hint: `Give it more time (timeout)${other}${state}.` };
  }
  if (end.death?.cause === 'died')
    return { message: 'The interpreter has died', isFailure: true, hint: `Its state is gone${state}.` };
  const isFailure = end.status === 'error';
  const message = isFailure ? 'The code ended with an error' : 'The code has run';
  if (end.death) return { message, isFailure, hint: exitAdvice };
  if (deathBefore === null) return { message, isFailure, hint: errorAdvice(cell) };
  const hint = lossAdvice(deathBefore, session.record.backend);
  return { message: `${message} in a new interpreter: ${describeLoss(deathBefore)}`, isFailure, hint };
}
