/** Makes the code that serves requests run before there is one: what has run once runs faster. */
import { Logger } from '../kit/logger.ts';
import { createApp, type AppDeps } from './app.ts';
import { ApiKey } from './auth.ts';

/** They change nothing; the second one is refused, for a start is a change. */
const rehearsed: readonly (readonly [method: string, path: string, body?: string])[] = [
  ['GET', '/v2/commands'],
  ['POST', '/v2/commands', '{"command":""}'],
  ['GET', '/v2/commands/unknown?wait=true'],
  ['POST', '/v2/commands/unknown/stdin', '{"input":"text"}'],
];

/** Nobody is told of these requests. */
export async function rehearse(deps: AppDeps): Promise<void> {
  const { onResponse: _, ...rest } = deps;
  const quiet = createApp({ ...rest, apiKey: new ApiKey(null), logger: new Logger('error', () => undefined) });
  const noLimit = { lift: () => undefined, restore: () => undefined, isOpen: () => false };
  for (const [method, path, body] of rehearsed) {
    await quiet(new Request(`http://localhost${path}`, { method, ...(body === undefined ? {} : { body }) }), noLimit);
  }
}
