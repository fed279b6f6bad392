/** Describes the routes of the protocol that are no RPCs, as OpenAPI 3.1. */
import { describeApi, type ApiInfo, type Json } from '../../http/description/openapi.ts';
import { loadAll } from '../../http/route/planes.ts';
import type { RouteShape } from '../../http/route/route.ts';
import { plainStatus, statusIn } from './failure.ts';
import { envd, restPlanes } from './index.ts';
import { sandboxRoutes } from './sandboxes.ts';

const failure = {
  type: 'object',
  required: ['code', 'message'],
  properties: { code: { type: 'integer', description: 'The status.' }, message: { type: 'string' } },
};

/** The code interpreter refuses a body that is not as it should be in this form, and all else in plain text. */
const detail = { type: 'object', required: ['detail'], properties: { detail: { type: 'string' } } };

const isOfCode = ({ path }: RouteShape): boolean => /^\/(execute|contexts)/.test(path);

/** The routes of port 49983, then those of the control plane, whose port is another one. */
export async function describeE2b(info: ApiInfo): Promise<Json> {
  const routes = [...(await loadAll(restPlanes)), ...sandboxRoutes];
  return describeApi(
    info,
    routes,
    {},
    {
      server: 'http://127.0.0.1:49983',
      keyHeaders: [...envd.keyHeaders, 'x-api-key'],
      publicPaths: envd.publicPaths,
      status: (code, route) => (isOfCode(route) ? plainStatus(code) : statusIn(code)),
      content(route, codes, schemas): Json {
        if (!isOfCode(route)) return { 'application/json': { schema: schemas.add('Failure', failure) } };
        return codes.includes('invalid_input')
          ? { 'application/json': { schema: detail } }
          : { 'text/plain': { schema: { type: 'string' } } };
      },
    },
  );
}
