/** The v1 routes of operations. */
import { z } from 'zod';
import { route } from './app.ts';

export const ping = route({
  operation: 'operations.ping_v1',
  method: 'GET',
  path: '/v1/ping',
  summary: 'Tell that the daemon answers',
  data: z.literal('pong'),
  errors: [],
  handle: () => 'pong' as const,
});

export const describeSurface = route({
  operation: 'operations.openapi_v1',
  method: 'GET',
  path: '/v1/openapi.json',
  summary: 'Describe the v1 surface as OpenAPI 3.1',
  raw: { contentType: 'application/json', description: 'The document' },
  errors: [],
  handle: ({ openApi }) => Response.json(openApi),
});
