/** The v1 routes that run JavaScript in Node.js, as a program in its own directory or in a session. */
import { z } from 'zod';
import type { CodeSession } from '../../core/code/sessions/session.ts';
import type { Package } from '../../core/ops/packages.ts';
import { Answer } from '../../kit/answer.ts';
import { CoreError } from '../../kit/errors.ts';
import { route, type V1Deps } from './app.ts';
import { cellSpec, describeRun, directoryOf, runCell, runErrors, timeLimits } from './code-run.ts';
import { exitCodeOf, NodeJsOutput, nodeOutputsOf, statusOf } from './code-views.ts';
import { placeCodes } from './file-failures.ts';
import { sessionId, sessionKey } from './code-session-ids.ts';
import { namedObject } from '../../operations/inputs.ts';

const language = 'javascript' as const;
const version = z.string().nullish().describe('Ignored: the node on PATH runs the code.');
const VersionQuery = z.object({ version });
const SessionPath = z.object({ session_id: z.string() });
const longestIdleSeconds = 86_400;

export const executeNodeJs = route({
  operation: 'nodejs.execute_v1',
  method: 'POST',
  path: '/v1/nodejs/execute',
  summary: 'Run JavaScript, alone in a new directory or in a session',
  body: namedObject('NodeJSExecuteRequest', {
    code: z.string(),
    timeout: z.int().min(1).max(timeLimits.max).nullable().default(timeLimits.default).describe('Seconds.'),
    files: z.record(z.string(), z.string()).nullish().describe('Texts by their names below the directory.'),
    stateful: z.boolean().nullable().default(false).describe('Variables stay for the next call.'),
    session_id: z.string().nullish().describe('As stateful; an unknown one is created.'),
    cwd: z.string().nullish(),
    version,
  }),
  data: namedObject('NodeJSExecuteResponse', {
    language: z.literal(language),
    status: z.string().describe('ok, error or timeout.'),
    execution_count: z.int().nullable(),
    outputs: z.array(NodeJsOutput),
    code: z.string(),
    stdout: z.string(),
    stderr: z.string(),
    exit_code: z.int(),
    session_id: z.string().nullable(),
  }),
  errors: [...runErrors, ...placeCodes],
  async handle(deps, { body, context }) {
    const key = body.session_id || body.stateful ? await sessionKey(deps.code, language, body.session_id) : null;
    const run = { language, kernel: null, sessionId: key, hasOwnDirectory: key === null };
    const ran = await runCell(deps, { ...cellSpec(body), ...run, ...(body.files && { files: body.files }) }, context);
    const { cell, session } = ran;
    const data = {
      language,
      status: statusOf(cell),
      execution_count: cell.end?.executionCount ?? null,
      outputs: nodeOutputsOf(cell),
      code: body.code,
      stdout: cell.outputs.printed('stdout'),
      stderr: cell.outputs.printed('stderr'),
      exit_code: exitCodeOf(cell),
      session_id: key === null ? null : sessionId(session),
    };
    return new Answer(data, describeRun(ran));
  },
});

const NodePackage = namedObject('NodeJSPackageInfo', { name: z.string(), version: z.string() });

export const nodeJsInfo = route({
  operation: 'nodejs.info_v1',
  method: 'GET',
  path: '/v1/nodejs/info',
  summary: 'Return the version of Node.js and the packages installed for all accounts',
  data: namedObject('NodeJSRuntimeInfo', {
    node_version: z.string().describe('v22.12.0; empty where there is none.'),
    npm_version: z.string().describe('Empty where there is none.'),
    supported_languages: z.array(z.string()),
    description: z.string(),
    runtime_directory: z.string().nullable(),
    global_npm_directory: z.string().nullable(),
    runtime_packages: z.array(NodePackage),
    global_packages: z.array(NodePackage),
    error: z.string().nullable().describe('Why the versions are incomplete.'),
    available_versions: z.array(z.string()).describe('node22 and its like.'),
    current_version: z.string().nullable(),
  }),
  errors: ['capacity_reached'],
  async handle({ packages, toolchains }) {
    const versions = Promise.all(['node', 'nodejs', 'npm'].map((program) => toolchains.versionOf(program)));
    const [[node, nodejs, npm], listed] = [await versions, await globalPackages(packages.list('nodejs'))];
    const found = node ?? nodejs ?? null;
    const major = found === null ? null : `node${found.split('.')[0]}`;
    return {
      node_version: found === null ? '' : `v${found}`,
      npm_version: npm ?? '',
      supported_languages: [language],
      description: 'JavaScript in Node.js: programs in a directory of their own, and sessions that keep their state',
      runtime_directory: null,
      global_npm_directory: null,
      runtime_packages: [],
      global_packages: [...listed.packages],
      error: found === null ? 'no node on PATH' : listed.error,
      available_versions: major === null ? [] : [major],
      current_version: major,
    };
  },
});

/** Code also runs in a Node.js installation without npm. */
async function globalPackages(listing: Promise<readonly Package[]>) {
  try {
    return { packages: await listing, error: null };
  } catch (error) {
    if (!(error instanceof CoreError) || error.code !== 'unavailable') throw error;
    return { packages: [], error: error.message };
  }
}

const NodeSession = namedObject('NodeJSSessionInfo', {
  session_id: z.string(),
  cwd: z.string(),
  created_at: z.number().describe('Milliseconds since 1970.'),
  last_used: z.number().describe('Milliseconds since 1970.'),
  max_idle_time: z.int().describe('Milliseconds.'),
  age_seconds: z.int().describe('Time since the last use.'),
  state: z.string().describe('IDLE or EXECUTING.'),
});

export const createNodeJsSession = route({
  operation: 'nodejs.create_session_v1',
  method: 'POST',
  path: '/v1/nodejs/sessions',
  summary: 'Create a session of Node.js; an existing session_id answers that one',
  query: VersionQuery,
  body: namedObject('NodeJSCreateSessionRequest', {
    session_id: z.string().nullish(),
    cwd: z.string().nullish(),
    max_idle_time: z.int().min(60).max(longestIdleSeconds).nullable().default(longestIdleSeconds),
  }),
  data: namedObject('NodeJSCreateSessionResponse', {
    session_id: z.string(),
    created: z.boolean(),
    message: z.string().nullable(),
    session: NodeSession.nullable(),
  }),
  errors: ['bad_argument', 'capacity_reached', 'unavailable', 'no_space_left'],
  async handle({ code }, { body }) {
    const id = await sessionKey(code, language, body.session_id);
    const idleMs = (body.max_idle_time ?? longestIdleSeconds) * 1000;
    const place = { cwd: directoryOf(body.cwd), env: {}, user: null };
    const { session, isNew } = await code.obtain({ id, language, kernel: null, idleMs, ...place });
    const message = isNew ? null : `Session ${sessionId(session)} was there already`;
    const data = { session_id: sessionId(session), created: isNew, message, session: nodeSession(code, session) };
    return new Answer(data, message === null ? {} : { message });
  },
});

export const listNodeJsSessions = route({
  operation: 'nodejs.list_sessions_v1',
  method: 'GET',
  path: '/v1/nodejs/sessions',
  summary: 'List the sessions of Node.js',
  query: VersionQuery,
  data: namedObject('NodeJSSessionListResponse', { sessions: z.record(z.string(), NodeSession) }),
  handle({ code }) {
    const entries = sessionsOf(code).map((session) => [sessionId(session), nodeSession(code, session)]);
    return { sessions: Object.fromEntries(entries) as Record<string, z.input<typeof NodeSession>> };
  },
});

export const getNodeJsSession = route({
  operation: 'nodejs.get_session_v1',
  method: 'GET',
  path: '/v1/nodejs/sessions/{session_id}',
  summary: 'Inspect a session of Node.js',
  params: SessionPath,
  query: VersionQuery,
  data: namedObject('NodeJSSessionResponse', { session: NodeSession }),
  errors: ['session_not_found'],
  handle({ code }, { params }) {
    return { session: nodeSession(code, sessionOf(code, params.session_id)) };
  },
});

export const deleteNodeJsSession = route({
  operation: 'nodejs.delete_session_v1',
  method: 'DELETE',
  path: '/v1/nodejs/sessions/{session_id}',
  summary: 'End a session of Node.js',
  params: SessionPath,
  query: VersionQuery,
  data: namedObject('NodeJSDeleteSessionResponse', { deleted: z.boolean() }),
  errors: ['session_not_found'],
  async handle({ code }, { params }) {
    await code.close(sessionOf(code, params.session_id).id);
    return { deleted: true };
  },
});

/** Throws `session_not_found`. */
function sessionOf(code: V1Deps['code'], id: string): CodeSession {
  const session = sessionsOf(code).find((one) => sessionId(one) === id);
  if (session) return session;
  throw new CoreError('session_not_found', `no session of Node.js has the id ${id}`, {
    hint: 'POST /v1/nodejs/sessions creates one; POST /v1/nodejs/execute with a session_id does too.',
  });
}

function sessionsOf(code: V1Deps['code']): CodeSession[] {
  return code.list().filter(({ record }) => record.language === language);
}

function nodeSession(code: V1Deps['code'], session: CodeSession): z.input<typeof NodeSession> {
  const { createdMs, cwd, lastUsedMs } = session.record;
  return {
    session_id: sessionId(session),
    cwd,
    created_at: createdMs,
    last_used: lastUsedMs,
    max_idle_time: code.idleLimitMs(session),
    age_seconds: Math.max(0, Math.floor((Date.now() - lastUsedMs) / 1000)),
    state: session.state === 'busy' ? 'EXECUTING' : 'IDLE',
  };
}
