/** Describes the routes of the surface that are no RPCs, as OpenAPI 3.1. */
import { describeApi, type ApiInfo, type Json } from '../../http/description/openapi.ts';
import { loadAll } from '../../http/route/planes.ts';
import { statusIn } from './failure.ts';
import { legacyPlanes, restPlanes } from './index.ts';

const message = { message: { type: 'string' } };
const failure = {
  type: 'object',
  required: ['code', 'message'],
  properties: { code: { type: 'string', description: 'A word such as `NOT_FOUND`.' }, ...message },
};
const legacyFailure = { type: 'object', required: ['message'], properties: message };

/** The routes of port 8080, then those of the older interface, whose port is another one. */
export async function describeAgentSandbox(info: ApiInfo): Promise<Json> {
  const routes = [...(await loadAll(restPlanes)), ...(await loadAll(legacyPlanes))];
  return describeApi(
    info,
    routes,
    {},
    {
      server: 'http://127.0.0.1:8080',
      keyHeaders: [],
      publicPaths: new Set(routes.map(({ path }) => path)),
      status: statusIn,
      content: ({ path }, _codes, schemas): Json => ({
        'application/json': {
          schema: path.startsWith('/v1/')
            ? schemas.add('Failure', failure)
            : schemas.add('LegacyFailure', legacyFailure),
        },
      }),
    },
  );
}
