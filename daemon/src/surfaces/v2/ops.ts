/** The v2 routes of operations. */
import { route } from './app.ts';

export const describeSurface = route({
  operation: 'operations.openapi_v2',
  method: 'GET',
  path: '/v2/openapi.json',
  summary: 'Describe the v2 surface as OpenAPI 3.1',
  raw: { contentType: 'application/json', description: 'The document' },
  errors: [],
  handle: ({ openApi }) => Response.json(openApi),
});
