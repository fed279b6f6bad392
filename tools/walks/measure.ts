/** `npm run walks [-- --files]`: counts the files and functions of the daemon that each of several requests runs. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AccessibleDesktop } from '../../test/harness/accessible-desktop.ts';
import { archive } from '../../test/harness/archive.ts';
import { Chromium } from '../../test/harness/chromium.ts';
import { ComputerWorker } from '../../test/harness/computer-worker.ts';
import { callTool } from '../../test/harness/mcp-client.ts';
import { repositoryRoot, Sandbox } from '../../test/harness/sandbox.ts';
import { TabClient } from '../../test/harness/tab-client.ts';
import { put } from '../../test/harness/trees.ts';
import { until } from '../../test/harness/until.ts';

/** The first requests load modules and fill caches. */
const warmRequests = 3;
const measuredRequests = 8;
/** The log line, the metrics and the next spare keeper come after the answer. */
const settleMs = 300;

/** A program with the probe. */
interface Probed {
  readonly name: string;
  readonly directory: string;
}

const root = mkdtempSync(join(tmpdir(), 'boxkeep-walks-'));
const showsFiles = process.argv.includes('--files');

/** The native program removes the variables of the runtime, so the probe is loaded by an argument. */
function loadProbe(): void {
  const path = join(root, 'native');
  const native = join(repositoryRoot, 'native/build/boxkeep-native');
  const preload = `--daemon=--preload=${join(import.meta.dirname, 'probe.ts')}`;
  const lines = ['#!/bin/sh', 'bun=$1', 'shift', `exec '${native}' "$bun" '${preload}' "$@"`];
  writeFileSync(path, `${lines.join('\n')}\n`, { mode: 0o755 });
  process.env['BOXKEEP_NATIVE'] = path;
}

function probed(name: string): Probed & { readonly env: Record<string, string> } {
  const directory = mkdtempSync(join(root, `${name}-`));
  return { name, directory, env: { BOXKEEP_WALKS: directory } };
}

/** The functions that ran since the last call, in the order of their first run. */
async function record({ directory }: Probed, number: number): Promise<string[]> {
  const path = join(directory, `${number}.json`);
  process.kill(Number(readFileSync(join(directory, 'pid'), 'utf8')), 'SIGUSR2');
  await until(`${path} exists`, () => existsSync(path));
  return JSON.parse(readFileSync(path, 'utf8')) as string[];
}

const counts = new Map<Probed, number>();

async function recordAll(programs: readonly Probed[]): Promise<Map<Probed, string[]>> {
  const found = new Map<Probed, string[]>();
  for (const program of programs) {
    const number = (counts.get(program) ?? 0) + 1;
    counts.set(program, number);
    found.set(program, await record(program, number));
  }
  return found;
}

/** Periodic work of other planes does not run in each of several requests. */
async function measure(title: string, programs: readonly Probed[], request: () => Promise<unknown>): Promise<void> {
  for (let count = 0; count < warmRequests; count++) await request();
  await Bun.sleep(settleMs);
  await recordAll(programs);
  const runs: Map<Probed, string[]>[] = [];
  for (let count = 0; count < measuredRequests; count++) {
    await request();
    await Bun.sleep(settleMs);
    runs.push(await recordAll(programs));
  }
  for (const program of programs) {
    const [first = [], ...others] = runs.map((run) => run.get(program) ?? []);
    const functions = [...new Set(first.filter((name) => others.every((other) => other.includes(name))))];
    const files = [...new Set(functions.map((name) => name.split(' ')[0] ?? ''))];
    const place = programs.length > 1 ? `${title}: ${program.name}` : title;
    console.log(
      `${place.padEnd(52)} ${String(files.length).padStart(4)} files ${String(functions.length).padStart(5)} functions`,
    );
    if (showsFiles) for (const file of files) console.log(`  ${file}: ${namesIn(functions, file).join(', ')}`);
  }
}

function namesIn(functions: readonly string[], file: string): string[] {
  return functions.filter((name) => name.startsWith(`${file} `)).map((name) => name.slice(file.length + 1));
}

async function main(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rmSync(root, { recursive: true }));
  loadProbe();
  const chromium = stack.use(await Chromium.start());
  const desktop = stack.use(await AccessibleDesktop.start());
  const workerProbe = probed('worker');
  const worker = stack.use(await ComputerWorker.start({ env: { ...desktop.environment, ...workerProbe.env } }));
  const daemonProbe = probed('daemon');
  const env = { ...chromium.environment, ...worker.environment, ...daemonProbe.env };
  const sandbox = await Sandbox.start({ env });
  stack.defer(() => sandbox.dispose());
  const daemon = [daemonProbe];

  await measure('GET /health', daemon, () => sandbox.request('GET /health'));
  await measure('POST /v2/commands', daemon, () => sandbox.run({ command: 'echo done' }));
  let id = '';
  await measure('POST /v2/commands, then its stream', daemon, async () => {
    id = await sandbox.start({ command: 'sleep 0.2; echo done' });
    await sandbox.allLines(id);
  });

  const tree = archive([
    { name: 'src/', flag: '5' },
    { name: 'src/one.txt', content: 'one needle\n' },
    { name: 'src/two.txt', content: 'two\n' },
  ]);
  const place = join(sandbox.directory, 'tree');
  let trees = 0;
  await measure('PUT /v2/fs/tree', daemon, () => put(sandbox, `${place}${++trees}`, tree));
  await measure('PUT /v2/fs/tree, into a tree', daemon, () => put(sandbox, place, tree));
  await measure('POST /v2/fs/grep', daemon, () => sandbox.ok('POST /v2/fs/grep', { path: place, pattern: 'needle' }));

  const { session_id: session } = await sandbox.ok('POST /v2/pty/sessions', {});
  const exec = `POST /v2/pty/sessions/${session}/exec`;
  await measure('POST /v2/pty/sessions/{id}/exec', daemon, () => sandbox.ok(exec, { command: 'echo done' }));
  const cell = { language: 'python', code: 'print(1)' };
  await measure('POST /v1/code/execute', daemon, () => sandbox.ok('POST /v1/code/execute', cell));

  const path = join(sandbox.directory, 'note.txt');
  writeFileSync(path, 'one\n');
  await measure('POST /mcp, tools/call of sandbox_file_operations', daemon, () =>
    callTool(sandbox, 'sandbox_file_operations', { action: 'read', path }),
  );

  await using tab = await TabClient.open(sandbox);
  await tab.navigate('data:text/html,<button>Save</button>');
  const ref = await tab.ref('Save', 'button');
  await measure('POST /v2/browser/click', daemon, () => tab.clickRef(ref));
  const click = { action_type: 'CLICK', x: 100, y: 100 };
  await measure('POST /v2/computer/actions', [daemonProbe, workerProbe], () =>
    sandbox.ok('POST /v2/computer/actions', click),
  );
}

await main();
