/** The control plane of one sandbox, this one, for programs that create, find and kill sandboxes themselves. */
import { z } from 'zod';
import type { RequestContext } from '../../http/route/context.ts';
import { routesFor, type Route } from '../../http/route/route.ts';
import { CoreError } from '../../kit/errors.ts';
import { percentDecoded } from '../../kit/text/percent.ts';
import { environment } from '../../operations/inputs.ts';
import type { E2bDeps } from './app.ts';
import { givenVariables } from './defaults.ts';
import { contextPrefix, processPrefix, protocolVersion } from './names.ts';

const route = routesFor<ControlDeps>();
/** Where the client names no time. */
const usualSeconds = 300;
const longestSeconds = 366 * 24 * 3600;
const mebibyte = 1024 * 1024;

const SandboxPath = z.object({ id: z.string() });
const Timeout = z.object({
  timeout: z.number().min(0).max(longestSeconds).nullish().describe('Seconds; reported, and ends nothing.'),
});
/** What a client may ask for, and gets an error for instead of nothing. */
const Restrictions = z.object({
  allow_internet_access: z.boolean().nullish().describe('Not false: the network belongs to the operator.'),
  network: z.looseObject({}).nullish().describe('Without rules for outgoing traffic.'),
  volumeMounts: z.array(z.unknown()).nullish().describe('Empty.'),
});
const raw = { contentType: 'application/json', description: 'The sandbox.' } as const;
const empty = { contentType: [], description: 'It is done.', status: 204 } as const;

/** Until when the client wants the sandbox. It does not end then: that is for the operator to decide. */
export class Lease {
  /** Milliseconds since 1970; null before the first request. */
  untilMs: number | null = null;
  /** As the last client that created the sandbox has named it. */
  metadata: Readonly<Record<string, string>> = {};

  extend(seconds: number | null | undefined): void {
    this.untilMs = Date.now() + (seconds ?? usualSeconds) * 1000;
  }
}

interface ControlDeps extends E2bDeps {
  readonly lease: Lease;
}

/** The key that the client has sent is the token of all other ports. */
function created({ apiKey, sandbox }: E2bDeps, { headers }: RequestContext, templateID = 'boxkeep') {
  const given = headers.get('x-api-key') ?? '';
  const token = apiKey.isKey(given) ? { envdAccessToken: given, trafficAccessToken: given } : {};
  const clientID = 'boxkeep';
  return { sandboxID: sandbox.id, templateID, clientID, envdVersion: protocolVersion, domain: null, ...token };
}

function detailed(deps: ControlDeps, context: RequestContext) {
  const { processors, memoryBytes, diskBytes } = deps.machineSize();
  return {
    ...created(deps, context),
    state: 'running',
    metadata: deps.lease.metadata,
    startedAt: new Date(deps.sandbox.startedMs).toISOString(),
    endAt: new Date(deps.lease.untilMs ?? Date.now()).toISOString(),
    cpuCount: processors,
    memoryMB: Math.floor(memoryBytes / mebibyte),
    diskSizeMB: Math.floor(diskBytes / mebibyte),
  };
}

function assertThis({ sandbox }: E2bDeps, id: string): void {
  if (id !== sandbox.id)
    throw new CoreError('session_not_found', `sandbox ${id} is not here; the one of this daemon is ${sandbox.id}`);
}

/** A program that asks for isolation must not believe that it has it. */
function assertOffered({ allow_internet_access: isOpen, network, volumeMounts }: z.output<typeof Restrictions>): void {
  const { denyOut, allowOut, rules, egressProxy } = network ?? {};
  const hint = 'Leave it out, and let the operator of the container decide.';
  const restricts = [denyOut, allowOut, rules, egressProxy].some((one) => one && Object.keys(one).length > 0);
  if (isOpen === false || restricts)
    throw new CoreError('bad_argument', 'the network of this sandbox is not restricted here', { hint });
  if (volumeMounts && volumeMounts.length > 0)
    throw new CoreError('bad_argument', 'volumes are not mounted here', { hint });
}

const create = (prefix: string) =>
  route({
    operation: `e2b.create_sandbox${prefix}`,
    method: 'POST',
    path: `${prefix}/sandboxes`,
    summary: 'Get the sandbox of this daemon',
    body: Timeout.extend({
      templateID: z.string().nullish(),
      envVars: environment.nullish(),
      metadata: z.record(z.string(), z.string()).nullish().describe('What a list can be narrowed by.'),
      ...Restrictions.shape,
    }),
    raw: { ...raw, status: 201 },
    errors: ['bad_argument'],
    handle(deps, { body, context }) {
      assertOffered(body);
      deps.lease.extend(body.timeout);
      deps.lease.metadata = body.metadata ?? {};
      const env = givenVariables(body.envVars ?? {});
      if (Object.keys(env).length > 0) deps.defaults.set({ env });
      return Response.json(created(deps, context, body.templateID ?? undefined), { status: 201 });
    },
  });

const connect = (prefix: string) =>
  route({
    operation: `e2b.connect_sandbox${prefix}`,
    method: 'POST',
    path: `${prefix}/sandboxes/{id}/connect`,
    summary: 'Get the sandbox again',
    params: SandboxPath,
    body: Timeout,
    raw,
    errors: ['session_not_found'],
    handle(deps, { params, body, context }) {
      assertThis(deps, params.id);
      deps.lease.extend(body.timeout);
      return Response.json(created(deps, context));
    },
  });

const list = (prefix: string) =>
  route({
    operation: `e2b.list_sandboxes${prefix}`,
    method: 'GET',
    path: `${prefix}/sandboxes`,
    summary: 'List the one sandbox',
    query: z.object({
      state: z.string().optional().describe('States, with commas between them; this sandbox is `running`.'),
      metadata: z.string().optional().describe('Names and values, as in a query; all of them have to be as created.'),
    }),
    raw,
    handle(deps, { query: { state = 'running', metadata = '' }, context }) {
      const isWanted =
        state.split(',').includes('running') &&
        // The clients encode them twice.
        [...new URLSearchParams(metadata)].every(
          ([name, value]) => deps.lease.metadata[percentDecoded(name)] === percentDecoded(value),
        );
      return Response.json(isWanted ? [detailed(deps, context)] : []);
    },
  });

const get = route({
  operation: 'e2b.get_sandbox',
  method: 'GET',
  path: '/sandboxes/{id}',
  summary: 'Inspect the sandbox',
  params: SandboxPath,
  raw,
  errors: ['session_not_found'],
  handle(deps, { params, context }) {
    assertThis(deps, params.id);
    return Response.json(detailed(deps, context));
  },
});

const setTimeoutRoute = route({
  operation: 'e2b.set_timeout',
  method: 'POST',
  path: '/sandboxes/{id}/timeout',
  summary: 'Note until when the sandbox is wanted',
  params: SandboxPath,
  body: Timeout,
  raw: empty,
  errors: ['session_not_found'],
  handle(deps, { params, body }) {
    assertThis(deps, params.id);
    deps.lease.extend(body.timeout);
    return new Response(null, { status: 204 });
  },
});

const kill = route({
  operation: 'e2b.kill_sandbox',
  method: 'DELETE',
  path: '/sandboxes/{id}',
  summary: 'End the processes and contexts that clients of this protocol have started; the daemon goes on',
  params: SandboxPath,
  raw: empty,
  errors: ['session_not_found', 'unavailable'],
  async handle(deps, { params }) {
    assertThis(deps, params.id);
    const { code, commands } = deps;
    const running = commands
      .list({ status: 'running', sessionId: null })
      .filter(({ id }) => id.startsWith(processPrefix));
    const contexts = code.list().filter(({ id }) => id.startsWith(contextPrefix));
    await Promise.all([
      ...running.map(async ({ id }) => commands.kill(id, 'SIGKILL', true)),
      ...contexts.map(async ({ id }) => code.close(id)),
    ]);
    deps.defaults.set({ env: {} }); // The variables of one program are not for the next one.
    return new Response(null, { status: 204 });
  },
});

/** The clients use both spellings. */
export const sandboxRoutes: readonly Route<ControlDeps>[] = [
  ...['', '/v2'].flatMap((prefix) => [create(prefix), connect(prefix), list(prefix)]),
  ...[get, setTimeoutRoute, kill],
];
