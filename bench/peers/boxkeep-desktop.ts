/** Measures the desktop routes of v2: a daemon, and the worker that it forwards to. */
import { join } from 'node:path';
import { launch } from '../launch.ts';
import type { Limit } from '../limit.ts';
import type { Field } from '../rows/row.ts';
import type { DesktopPeer } from './desktop.ts';

const binary = join(import.meta.dirname, '../../dist/boxkeep');

type Opener = Pick<Field, 'openBoxkeepIn'>;

export interface DesktopRoutes extends AsyncDisposable {
  /** A path below `/v2/computer/`; with a body, by POST. Throws for an answer that is not a success. */
  call(route: string, body?: object): Promise<Response>;
}

/** Starts a worker for the desktop that the environment names, and a daemon that forwards to it. */
export async function openDesktopRoutes(
  { openBoxkeepIn }: Opener,
  environment: Readonly<Record<string, string>>,
  limit: Limit | null,
): Promise<DesktopRoutes> {
  const command = [binary, 'computer-use', '--port', '0'];
  const serving = /"message":"serving","url":"([^"]+)"/;
  const worker = await launch({ command, serving, logsTo: 'stdout', url: null, environment }, limit);
  const daemon = await openBoxkeepIn({ SVC_COMPUTER_USE_URL: worker.serving[1] ?? '' });
  return {
    async call(route, body) {
      const init = body && { method: 'POST', body: JSON.stringify(body) };
      const response = await fetch(`${daemon.url}/v2/computer/${route}`, init);
      if (!response.ok) throw new Error(`${route}: ${response.status} ${await response.text()}`);
      return response;
    },
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]();
      await worker[Symbol.asyncDispose]();
    },
  };
}

export function boxkeepDesktop(field: Opener): DesktopPeer {
  return {
    name: 'boxkeep',
    async open(display, limit) {
      const routes = await openDesktopRoutes(field, { DISPLAY: display }, limit);
      const clickAt = (x: number, y: number) => ({ action_type: 'CLICK', x, y });
      return {
        click: async (x, y) => void (await (await routes.call('actions', clickAt(x, y))).arrayBuffer()),
        async clickAll(points) {
          await (await routes.call('actions/batch', { actions: points.map(([x, y]) => clickAt(x, y)) })).arrayBuffer();
        },
        screenshot: async () => await (await routes.call('screenshot')).bytes(),
        [Symbol.asyncDispose]: () => routes[Symbol.asyncDispose](),
      };
    },
  };
}
