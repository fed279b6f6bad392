/** Serves the description of the worker's own routes. */
import { routesFor } from '../../http/route/route.ts';

export interface DescriptionDeps {
  readonly openApi: () => Promise<object>;
}

export const describeWorker = routesFor<DescriptionDeps>()({
  operation: 'desktop.openapi',
  method: 'GET',
  path: '/v2/openapi.json',
  summary: 'Describe the routes of the worker as OpenAPI 3.1',
  raw: { contentType: 'application/json', description: 'The document' },
  handle: async ({ openApi }) => Response.json(await openApi()),
});
