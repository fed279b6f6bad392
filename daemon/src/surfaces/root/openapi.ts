/** Serves the description of both surfaces in one document. */
import { route } from './app.ts';

/** The specification does not list this route as public: with a key set, the route needs the key. */
export const openApi = route({
  operation: 'operations.openapi',
  method: 'GET',
  path: '/openapi.json',
  summary: 'Describe every route as OpenAPI 3.1, of both surfaces',
  raw: { contentType: 'application/json', description: 'The document' },
  handle: async ({ openApi }) => Response.json(await openApi()),
});
