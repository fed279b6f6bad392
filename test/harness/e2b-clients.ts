/** Runs programs that make every call of a published SDK of E2B, and compares their results with the table. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CallTable } from '../../tools/gen/e2b-calls.ts';
import { needNodes, needPackages, needPython, nodeOf } from './interpreters.ts';
import { programEnvironment } from './closed-ports.ts';
import { linesIn } from './line-program.ts';
import { rootKind } from './root.ts';
import { expect, repositoryRoot, test, type Json, type Sandbox, type SandboxOptions } from './sandbox.ts';

const folder = join(repositoryRoot, 'test/clients/e2b');

type Results = Readonly<Record<string, Json>>;

const table = JSON.parse(readFileSync(join(folder, 'results.json'), 'utf8')) as CallTable;

/** Old clients take only keys of this form. */
const key = 'e2b_0123456789abcdef';

/** How a client finds the daemon and gets its key. */
const ways = {
  debug: { title: 'in debug mode', key: null, env: {} },
  url: { title: 'with a key and sandbox_url', key, env: { E2B_SANDBOX_URL: 'http://127.0.0.1:49983' } },
  create: {
    title: 'through create()',
    key,
    env: { E2B_SANDBOX_URL: 'http://127.0.0.1:49983', E2B_API_URL: 'http://127.0.0.1:49980' },
  },
} as const;
type Way = keyof typeof ways;
type Group = keyof CallTable['groups'];

export interface Client {
  readonly name: string;
  /** Its program, with the arguments before the way. */
  readonly command: () => readonly string[];
  /** Old code interpreters do not know `sandbox_url`. */
  readonly codeOnlyInDebugMode?: boolean;
}

/** Both clients of a version for Python; a version without a folder is the newest one. */
export function pythonClients(version: string, place = 'clients/e2b', more: Partial<Client> = {}): Client[] {
  return ['sync', 'async'].map((mode) => ({
    name: `Python ${version} ${mode}`,
    command: () => [join(needPython(place), 'bin/python'), '-B', join(folder, 'calls.py'), mode],
    ...more,
  }));
}

export const javascriptClient: Client = {
  name: 'JavaScript 2.51',
  command: () => {
    needNodes();
    return [nodeOf(22), join(folder, 'calls.mjs'), needPackages('e2b')];
  },
};

/** The ways do the same to processes and files, so that one of them shows what another root changes. */
const waysHere = (Object.keys(ways) as Way[]).filter((way) => rootKind === 'machine' || way === 'debug');

/** A test of each client in each way, with a daemon in a network of its own, where the standard ports are free. */
export function clientTest(title: string, clients: readonly Client[]): void {
  for (const way of waysHere)
    for (const client of clients)
      test(
        `${title}: ${client.name}, ${ways[way].title}`,
        async ({ sandbox }) => void (await passCalls(sandbox, client, way)),
        onStandardPorts(way),
      );
}

/** A daemon in a network of its own, where the standard ports are free. */
export function onStandardPorts(way: Way, more: SandboxOptions = {}): SandboxOptions {
  return {
    launcher: ['unshare', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'],
    env: {
      SVC_E2B: 'on',
      SVC_E2B_API_PORT: '49980',
      ...(ways[way].key !== null && { SVC_API_KEY: ways[way].key }),
    },
    timeoutMs: 120_000,
    ...more,
  };
}

/** Compares each call with the table. Returns their number. `beforeCall` runs while the client is attached to nothing. */
export async function passCalls(
  sandbox: Sandbox,
  client: Client,
  way: Way,
  beforeCall?: () => Promise<void>,
): Promise<number> {
  const groups = groupsOf(client, way);
  const seen = await results(sandbox, client, way, { groups, ...(beforeCall && { beforeCall }) });
  expect(seen).toEqual(expected(client, way, groups));
  return Object.keys(seen).length;
}

/** Bare roots have no interpreters. */
function groupsOf({ codeOnlyInDebugMode = false }: Client, way: Way): Group[] {
  const isRun: Readonly<Record<Group, boolean>> = {
    commands: true,
    files: true,
    code: rootKind === 'machine' && (way === 'debug' || !codeOnlyInDebugMode),
    control: way === 'create',
  };
  return (Object.keys(isRun) as Group[]).filter((group) => isRun[group]);
}

async function results(
  sandbox: Sandbox,
  { command }: Client,
  way: Way,
  { groups, beforeCall }: { readonly groups: readonly Group[]; readonly beforeCall?: () => Promise<void> },
): Promise<Results> {
  const inside = ['nsenter', '--target', String(sandbox.initPid), '--net'];
  const client = Bun.spawn([...inside, ...command(), way, sandbox.directory, ...groups], {
    env: programEnvironment({
      ...ways[way].env,
      ...(ways[way].key !== null && { E2B_API_KEY: ways[way].key }),
      ...(beforeCall && { E2B_TURNS: 'on' }),
    }),
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const stderr = client.stderr.text();
  const shown: Record<string, Json> = {};
  for await (const [name, value] of linesIn(client.stdout)) {
    if (name !== 'turn') shown[name] = value;
    else {
      await beforeCall?.();
      void client.stdin.write('\n');
    }
  }
  if ((await client.exited) !== 0) throw new Error(`the client failed after ${JSON.stringify(shown)}: ${await stderr}`);
  return shown;
}

function expected({ name }: Client, way: Way, groups: readonly Group[]): Results {
  const all: Results = Object.assign({}, ...groups.map((group) => table.groups[group]));
  const words = new Set([...name.split(' '), way]);
  const differences = table.differences.filter(({ where }) =>
    where.some((phrase) => phrase.split(' ').every((word) => words.has(word))),
  );
  const theirs: Results = Object.assign({}, ...differences.map(({ calls }) => calls));
  return { ...all, ...Object.fromEntries(Object.entries(theirs).filter(([call]) => call in all)) };
}
