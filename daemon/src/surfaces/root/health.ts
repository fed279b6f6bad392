/** Reports the health of the daemon, in a shape that both common kinds of probes read. */
import { z } from 'zod';
import { Answer } from '../../http/route.ts';
import { route } from './app.ts';

const Health = z
  .object({ status: z.literal('healthy'), version: z.string(), uptime_s: z.number() })
  .meta({ id: 'Health' });

export const health = route({
  operation: 'operations.health',
  method: 'GET',
  path: '/health',
  summary: 'Return 200 while the daemon serves',
  data: Health,
  top: Health.pick({ status: true, version: true }),
  errors: [],
  handle({ version, uptimeSeconds }) {
    const status = 'healthy' as const;
    return new Answer({ status, version, uptime_s: uptimeSeconds() }, { message: status, top: { status, version } });
  },
});
