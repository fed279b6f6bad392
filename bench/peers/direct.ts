/** Measures the cost of durability: the same runtime and route, but each command is spawned directly. */
import { join } from 'node:path';
import { launch } from '../launch.ts';
import type { Limit } from '../limit.ts';
import type { Peer } from './peer.ts';
import { startCommand } from './boxkeep.ts';

const server = join(import.meta.dirname, 'direct-server.ts');

export function direct(limit: Limit | null): Peer {
  return {
    name: 'direct',
    canStartAnew: true,
    async open() {
      const launched = await launch(
        {
          command: [process.execPath, server],
          serving: /^serving (.+)$/,
          logsTo: 'stdout',
          url: ([, url]) => `${url}/health`,
        },
        limit,
      );
      const url = launched.serving[1] ?? '';
      return {
        name: 'direct',
        pids: [launched.pid],
        startMs: launched.startMs,
        run: async (script) => (await startCommand(url, { command: script })).exit_code,
        follow: null,
        [Symbol.asyncDispose]: () => launched[Symbol.asyncDispose](),
      };
    },
  };
}
