/** The v1 routes of Jupyter kernels. Without ipykernel, each route answers 501 before doing anything. */
import { z } from 'zod';
import { poolKindOf } from '../../core/code/language.ts';
import type { CodeSession } from '../../core/code/sessions/session.ts';
import { Answer } from '../../kit/answer.ts';
import { CoreError, type ErrorCode } from '../../kit/errors.ts';
import { route, type V1Deps } from './app.ts';
import {
  cellSpec,
  chooseKernel,
  describeRun,
  directoryOf,
  kernelName,
  namingKernel,
  runCell,
  runErrors,
  timeLimits,
} from './code-run.ts';
import { JupyterOutput, outputsOf, statusOf } from './code-views.ts';
import { sessionId, sessionKey } from './code-session-ids.ts';
import { namedObject } from '../../operations/inputs.ts';

const absent: ErrorCode = 'not_implemented';
const kernelField = z.string().nullish().describe('python3, python3.12 or any kernel that is installed.');
const SessionPath = z.object({ session_id: z.string() });

export const executeJupyter = route({
  operation: 'jupyter.execute_v1',
  method: 'POST',
  path: '/v1/jupyter/execute',
  summary: 'Run Python in a Jupyter kernel, alone or in a session',
  body: namedObject('JupyterExecuteRequest', {
    code: z.string(),
    timeout: z.int().min(1).max(timeLimits.max).nullable().default(timeLimits.default).describe('Seconds.'),
    kernel_name: kernelField,
    session_id: z.string().nullish().describe('Keeps variables; an unknown one is created.'),
    cwd: z.string().nullish(),
  }),
  data: namedObject('JupyterExecuteResponse', {
    kernel_name: z.string(),
    session_id: z.string().nullable(),
    status: z.string().describe('ok, error or timeout.'),
    execution_count: z.int().nullable(),
    outputs: z.array(JupyterOutput),
    code: z.string(),
    msg_id: z.string().nullable(),
  }),
  errors: [...runErrors, absent],
  async handle(deps, { body, context }) {
    const key = body.session_id ? await sessionKey(deps.code, 'python', body.session_id) : null;
    const { kernel, hint } = await chooseKernel(deps, body.kernel_name);
    const spec = { ...cellSpec(body), language: 'python' as const, kernel, sessionId: key, onKernel: true };
    const ran = await namingKernel(runCell(deps, spec, context));
    const { cell, session } = ran;
    const data = {
      kernel_name: kernelName(session),
      session_id: key === null ? null : sessionId(session),
      status: statusOf(cell),
      execution_count: cell.end?.executionCount ?? null,
      outputs: outputsOf(cell),
      code: body.code,
      msg_id: cell.id,
    };
    const described = describeRun(ran);
    return new Answer(data, { ...described, hint: described.hint ?? hint });
  },
});

export const jupyterInfo = route({
  operation: 'jupyter.info_v1',
  method: 'GET',
  path: '/v1/jupyter/info',
  summary: 'List the kernels, and count the sessions',
  data: namedObject('JupyterInfoResponse', {
    default_kernel: z.string(),
    available_kernels: z.array(z.string()),
    active_sessions: z.int(),
    session_timeout_seconds: z.int(),
    max_sessions: z.int(),
    description: z.string(),
    kernel_detection: z.string(),
  }),
  errors: [absent],
  async handle(deps) {
    const { limits, names } = await deps.codeInfo.kernels();
    return {
      default_kernel: names[0] ?? '',
      available_kernels: [...names],
      active_sessions: sessionsOf(deps).length,
      session_timeout_seconds: Math.round(limits.idleMs / 1000),
      max_sessions: limits.max,
      description: 'Python in Jupyter kernels; a session keeps its variables',
      kernel_detection: 'The kernels of the Pythons on PATH, looked at with each request',
    };
  },
});

const SessionInfo = namedObject('SessionInfo', {
  kernel_name: z.string(),
  last_used: z.number().describe('Seconds since 1970.'),
  age_seconds: z.int(),
});

export const listJupyterSessions = route({
  operation: 'jupyter.list_sessions_v1',
  method: 'GET',
  path: '/v1/jupyter/sessions',
  summary: 'List the sessions that have a kernel',
  data: namedObject('ActiveSessionsResult', { sessions: z.record(z.string(), SessionInfo) }),
  errors: [absent],
  async handle(deps) {
    await deps.codeInfo.needKernel();
    return { sessions: Object.fromEntries(sessionsOf(deps).map((one) => [sessionId(one), sessionInfo(one)])) };
  },
});

export const getJupyterSession = route({
  operation: 'jupyter.get_session_v1',
  method: 'GET',
  path: '/v1/jupyter/sessions/{session_id}',
  summary: 'Inspect a session that has a kernel',
  params: SessionPath,
  data: SessionInfo.extend({ session_id: z.string() }).meta({ id: 'JupyterSessionResponse' }),
  errors: [absent, 'session_not_found'],
  async handle(deps, { params }) {
    await deps.codeInfo.needKernel();
    const session = sessionsOf(deps).find((one) => sessionId(one) === params.session_id);
    if (session) return { session_id: params.session_id, ...sessionInfo(session) };
    throw new CoreError('session_not_found', `no session has the id ${params.session_id}`, {
      hint: 'GET /v1/jupyter/sessions lists the sessions; POST /v1/jupyter/sessions/create creates one.',
    });
  },
});

export const createJupyterSession = route({
  operation: 'jupyter.create_session_v1',
  method: 'POST',
  path: '/v1/jupyter/sessions/create',
  summary: 'Create a session with a kernel; an existing session_id answers that one',
  body: namedObject('JupyterCreateSessionRequest', {
    session_id: z.string().nullish(),
    kernel_name: kernelField,
    cwd: z.string().nullish(),
  }),
  data: namedObject('JupyterCreateSessionResponse', {
    session_id: z.string(),
    kernel_name: z.string(),
    message: z.string(),
  }),
  errors: [absent, 'bad_argument', 'capacity_reached', 'unavailable', 'no_space_left'],
  async handle(deps, { body }) {
    const { code } = deps;
    const id = await sessionKey(code, 'python', body.session_id);
    const { kernel, hint } = await chooseKernel(deps, body.kernel_name);
    const place = { cwd: directoryOf(body.cwd), env: {}, user: null };
    const made = code.obtain({ id, language: 'python', kernel, onKernel: true, ...place });
    const { session, isNew } = await namingKernel(made);
    const message = isNew ? 'The session was created' : 'The session was there already';
    return new Answer({ session_id: sessionId(session), kernel_name: kernelName(session), message }, { hint, message });
  },
});

export const deleteJupyterSession = route({
  operation: 'jupyter.delete_session_v1',
  method: 'DELETE',
  path: '/v1/jupyter/sessions/{session_id}',
  summary: 'End a session and its kernel',
  params: SessionPath,
  data: z.null(),
  errors: [absent],
  async handle(deps, { params }) {
    await deps.codeInfo.needKernel();
    const session = sessionsOf(deps).find((one) => sessionId(one) === params.session_id);
    if (!session) {
      return new Answer(null, { isFailure: true, message: `no session has the id ${params.session_id}` });
    }
    await deps.code.close(session.id);
    return new Answer(null, { message: `Session ${params.session_id} was deleted` });
  },
});

export const deleteJupyterSessions = route({
  operation: 'jupyter.delete_sessions_v1',
  method: 'DELETE',
  path: '/v1/jupyter/sessions',
  summary: 'End all sessions that have a kernel',
  data: z.object({ cleaned_sessions: z.int() }),
  errors: [absent],
  async handle(deps) {
    await deps.codeInfo.needKernel();
    const sessions = sessionsOf(deps);
    await Promise.all(sessions.map(({ id }) => deps.code.close(id)));
    return new Answer({ cleaned_sessions: sessions.length }, { message: `Deleted ${sessions.length} sessions` });
  },
});

function sessionsOf({ code }: V1Deps): CodeSession[] {
  return code.list().filter(({ record }) => poolKindOf(record.backend) === 'kernel');
}

function sessionInfo(session: CodeSession): z.input<typeof SessionInfo> {
  const { createdMs, lastUsedMs } = session.record;
  return {
    kernel_name: kernelName(session),
    last_used: lastUsedMs / 1000,
    age_seconds: Math.max(0, Math.floor((Date.now() - createdMs) / 1000)),
  };
}
