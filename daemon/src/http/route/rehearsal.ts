/** Runs the request code before the first request arrives, because code that has run once runs faster. */
import { Logger } from '../../kit/logger.ts';
import { createApp, type AppDeps } from '../app.ts';
import { ApiKey } from '../guard/auth.ts';

/** Requests without an effect. The second one is refused, because a real start would have an effect. */
const rehearsed: readonly (readonly [method: string, path: string, body?: string])[] = [
  ['GET', '/v2/commands'],
  ['POST', '/v2/commands', '{"command":""}'],
  ['GET', '/v2/commands/unknown?wait=true'],
  ['POST', '/v2/commands/unknown/stdin', '{"input":"text"}'],
];

/** Runs the requests without log lines and metrics. */
export async function rehearse(deps: AppDeps): Promise<void> {
  const { onResponse: _, ...rest } = deps;
  const quiet = createApp({ ...rest, apiKey: new ApiKey(null), logger: new Logger('error', () => undefined) });
  const noLimit = { lift: () => undefined, restore: () => undefined, isOpen: () => false, unsentBytes: () => 0 };
  for (const [method, path, body] of rehearsed) {
    await quiet(new Request(`http://localhost${path}`, { method, ...(body === undefined ? {} : { body }) }), noLimit);
  }
}
