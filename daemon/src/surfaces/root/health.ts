/** Reports the health of the daemon, in a shape that both common kinds of probes read. */
import { z } from 'zod';
import { CoreError } from '../../kit/errors.ts';
import { Answer } from '../../kit/answer.ts';
import { route } from './app.ts';
import { namedObject } from '../../operations/inputs.ts';

/** A probe that arrived before the upgrade is still answered as usual. */
const usualMs = 1000;

const Health = namedObject('Health', { status: z.literal('healthy'), version: z.string(), uptime_s: z.number() });

export const health = route({
  operation: 'operations.health',
  method: 'GET',
  path: '/health',
  summary: 'Return 200 while the daemon serves',
  data: Health,
  top: Health.pick({ status: true, version: true }),
  errors: ['unavailable'],
  handle({ version, uptimeSeconds, leavingMs }) {
    const heldMs = leavingMs();
    if (heldMs !== null && heldMs > usualMs) throw upgradeInProgress(heldMs);
    const status = 'healthy' as const;
    return new Answer({ status, version, uptime_s: uptimeSeconds() }, { message: status, top: { status, version } });
  },
});

function upgradeInProgress(heldMs: number): CoreError {
  const seconds = Math.round(heldMs / 1000);
  return new CoreError('unavailable', `an upgrade of the daemon has held requests for ${seconds} s`, {
    hint: 'Wait: within 20 s the new daemon serves them, or the old one again. Running commands are not affected.',
  });
}
