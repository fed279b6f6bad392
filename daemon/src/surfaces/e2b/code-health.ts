/** The health of the code interpreter, which differs from that of port 49983. */
import { routesFor } from '../../http/route/route.ts';
import type { E2bDeps } from './app.ts';

const route = routesFor<E2bDeps>();

export const health = route({
  operation: 'e2b.code_health',
  method: 'GET',
  path: '/health',
  summary: 'Whether the daemon serves',
  raw: { contentType: 'application/json', description: 'The text OK.' },
  handle: () => Response.json('OK'),
});
