/** The REST routes of port 49983 that are not about files: health, use, and the defaults of later calls. */
import { z } from 'zod';
import { routesFor } from '../../http/route/route.ts';
import { CoreError } from '../../kit/errors.ts';
import { environment, systemText } from '../../operations/inputs.ts';
import type { E2bDeps } from './app.ts';
import { accountNamed, pathOf } from './caller.ts';
import { givenVariables } from './defaults.ts';
import { protocolVersion } from './names.ts';

const route = routesFor<E2bDeps>();

const noStore = { 'cache-control': 'no-store' };

export const health = route({
  operation: 'e2b.health',
  method: 'GET',
  path: '/health',
  summary: 'Whether the daemon serves',
  raw: { contentType: [], description: 'It does.', status: 204 },
  handle: () => new Response(null, { status: 204, headers: noStore }),
});

const mebibyte = 1024 * 1024;

export const metrics = route({
  operation: 'e2b.metrics',
  method: 'GET',
  path: '/metrics',
  summary: 'What the machine uses now',
  raw: { contentType: 'application/json', description: 'Processors, memory and disk; bytes, and percent.' },
  handle({ machineUse }) {
    const { processors, busyPercent, memoryBytes, usedMemoryBytes, ...use } = machineUse();
    const body = {
      ts: Math.floor(Date.now() / 1000),
      cpu_count: processors,
      cpu_used_pct: Math.round(busyPercent * 100) / 100,
      mem_total: memoryBytes,
      mem_used: usedMemoryBytes,
      mem_cache: use.cachedBytes,
      mem_total_mib: Math.floor(memoryBytes / mebibyte),
      mem_used_mib: Math.floor(usedMemoryBytes / mebibyte),
      disk_used: use.usedDiskBytes,
      disk_total: use.diskBytes,
    };
    return Response.json(body, { headers: noStore });
  },
});

export const envs = route({
  operation: 'e2b.envs',
  method: 'GET',
  path: '/envs',
  summary: 'The variables that every process gets',
  raw: { contentType: 'application/json', description: 'A map of names to values.' },
  handle: ({ defaults }) => Response.json(defaults.values.env, { headers: noStore }),
});

export const init = route({
  operation: 'e2b.init',
  method: 'POST',
  path: '/init',
  summary: 'Set the variables, the user and the directory of later calls',
  body: z.object({
    envVars: environment.optional(),
    defaultUser: systemText.nullish(),
    defaultWorkdir: systemText.nullish(),
    accessToken: z.string().nullish().describe('Has to be the key of the daemon.'),
  }),
  raw: { contentType: [], description: 'They are set.', status: 204 },
  errors: ['unauthorized', 'bad_argument'],
  handle(deps, { body, context }) {
    const { apiKey, defaults } = deps;
    const { accessToken: token, defaultUser: user, defaultWorkdir: directory, envVars: env } = body;
    const isAuthorized = context.isAuthorized || apiKey.isKey(token ?? '');
    // A client that sets a token believes that it is protected from then on.
    if (!isAuthorized || (token && !apiKey.isKey(token)))
      throw new CoreError('unauthorized', 'the key of the daemon is that of SVC_API_KEY');
    const caller = accountNamed(deps, user ?? '');
    defaults.set({
      ...(env && { env: givenVariables(env) }),
      ...(user && { user }),
      ...(directory && { directory: pathOf(deps, directory, caller) }),
    });
    return new Response(null, { status: 204, headers: { 'x-envd-version': protocolVersion } });
  },
});
