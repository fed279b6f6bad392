/** SWE-ReX: its server from PyPI, in a virtual environment of the user's cache directory. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { must } from '../install.ts';
import { freePort, launch } from '../launch.ts';
import type { Limit } from '../limit.ts';
import type { Peer } from './peer.ts';

const release = 'swe-rex==1.4.0';

export function sweRex(limit: Limit | null): Peer {
  return {
    name: 'swe-rex',
    canStartAnew: true,
    async open() {
      const program = installed();
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

/** Where its server is. The first call installs it; what an interrupted one left behind is made anew. */
function installed(): string {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const place = join(cache, 'sandboxd-bench', release);
  const program = join(place, 'bin/swerex-remote');
  if (!existsSync(program)) {
    console.log(`bench: installs ${release} from PyPI into ${place}`);
    must(['python3', '-m', 'venv', '--clear', place]);
    must([join(place, 'bin/pip'), 'install', '--quiet', '--disable-pip-version-check', release]);
  }
  return program;
}
