/** Programs on the clients of this repository: in TypeScript, as each runtime loads the bundle, and in Python. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { linesOf } from '../../bench/peers/lines.ts';
import { synchronous } from '../../tools/gen/python/sync.ts';
import { needNodes, needPackages, needPython, nodeOf } from './interpreters.ts';
import { expect, repositoryRoot, type Sandbox } from './sandbox.ts';

const directory = mkdtempSync(join(tmpdir(), 'boxkeep-client-'));
/** The client in TypeScript in one file, minified. */
export const bundle = join(directory, 'boxkeep.mjs');
export const key = 'a-key-of-the-test';

const folder = join(repositoryRoot, 'test/clients');
const pythons = ['3.9', '3.13'];

/** Makes what the clients need. Call it before the tests, because a download takes longer than one may. */
export async function needClients(): Promise<void> {
  needNodes();
  needPackages('typescript');
  for (const version of pythons) needPython('clients/python/client', version);
  const { outputs } = await Bun.build({
    entrypoints: [join(repositoryRoot, 'clients/typescript/src/index.ts')],
    target: 'browser',
    minify: true,
  });
  await Bun.write(bundle, outputs[0]!);
}

export function removeClients(): void {
  rmSync(directory, { recursive: true });
}

/** The command that runs a program, up to its arguments. */
export interface Client {
  readonly name: string;
  /** Whether the program is there in its language. */
  has(program: string): boolean;
  run(program: string): { readonly command: readonly string[]; readonly env: Record<string, string> };
}

function inJavascript(name: string, runtime: () => string): Client {
  const path = (program: string) => join(folder, 'typescript', `${program}.mjs`);
  return {
    name,
    has: (program) => existsSync(path(program)),
    run: (program) => ({
      command: [runtime(), path(program), bundle],
      // Where a runtime has no WebSocket, it comes from a package.
      env: { PACKAGES: needPackages('typescript') },
    }),
  };
}

function inPython(name: string, version: string, isAsync: boolean): Client {
  const path = (program: string) => join(folder, 'python/client', `${program.replaceAll('-', '_')}.py`);
  return {
    name,
    has: (program) => existsSync(path(program)),
    run(program) {
      const text = readFileSync(path(program), 'utf8');
      const run = isAsync ? text : synchronous(text).replace('asyncio.run(main())', 'main()');
      return {
        command: [join(needPython('clients/python/client', version), 'bin/python'), '-B', '-c', run],
        env: { PYTHONPATH: [join(repositoryRoot, 'clients/python/src'), dirname(path(program))].join(':') },
      };
    },
  };
}

const clients: readonly Client[] = [
  inJavascript('Node 18', () => nodeOf(18)),
  inJavascript('Node 24', () => nodeOf(24)),
  inJavascript('Bun', () => process.execPath),
  ...pythons.flatMap((version) => [
    inPython(`Python ${version}`, version, false),
    inPython(`Python ${version}, asyncio`, version, true),
  ]),
];

export function clientsWith(program: string): readonly Client[] {
  return clients.filter((client) => client.has(program));
}

/** What a program prints, by name. Kills or upgrades the daemon where it asks, and tells it when the daemon is back. */
export async function shownBy(
  client: Client,
  program: string,
  sandbox: Sandbox,
  ...more: readonly string[]
): Promise<object> {
  const { command, env } = client.run(program);
  const child = Bun.spawn([...command, sandbox.url, key, sandbox.directory, ...more], {
    env: { PATH: process.env['PATH'], HOME: sandbox.directory, ...env },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const complaints = child.stderr.text();
  const shown: Record<string, unknown> = {};
  for await (const line of linesOf(new Response(child.stdout))) {
    const [what, value] = JSON.parse(line) as [string, unknown];
    if (what === 'upgrade') expect((await sandbox.upgrade()).code).toBe(0);
    else if (what === 'kill') process.kill(sandbox.daemonPid, 'SIGKILL');
    else {
      shown[what] = value;
      continue;
    }
    await sandbox.served();
    await child.stdin.write('\n');
    await child.stdin.flush();
  }
  expect([await child.exited, await complaints]).toEqual([0, '']);
  return shown;
}

export const clientOptions = {
  env: { SVC_API_KEY: key },
  expectedWarnings: ['started again by init'],
  timeoutMs: 60_000,
};
