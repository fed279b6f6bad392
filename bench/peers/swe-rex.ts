/** Measures SWE-ReX: its server from PyPI, in a virtual environment in the user's cache directory. */
import { join } from 'node:path';
import { virtualEnvironment } from '../install.ts';
import { freePort, launch } from '../launch.ts';
import type { Limit } from '../limit.ts';
import type { Peer } from './peer.ts';

const release = 'swe-rex==1.4.0';

export function sweRex(limit: Limit | null): Peer {
  return {
    name: 'swe-rex',
    canStartAnew: true,
    async open() {
      const place = virtualEnvironment({ name: release, packages: [release], program: 'swerex-remote' });
      const program = join(place, 'bin/swerex-remote');
      const token = crypto.randomUUID();
      const headers = { 'x-api-key': token, 'content-type': 'application/json' };
      const url = `http://127.0.0.1:${await freePort()}`;
      const server = await launch(
        {
          command: [program, '--host', '127.0.0.1', '--port', new URL(url).port, '--auth-token', token],
          serving: /Uvicorn running on/,
          logsTo: 'stderr',
          url: () => `${url}/`,
        },
        limit,
      );
      return {
        name: 'swe-rex',
        pids: [server.pid],
        startMs: server.startMs,
        async run(script) {
          const body = JSON.stringify({ command: ['/bin/sh', '-c', script] });
          const response = await fetch(`${url}/execute`, { method: 'POST', headers, body });
          if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
          return ((await response.json()) as { exit_code: number }).exit_code;
        },
        follow: null,
        [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
      };
    },
  };
}
