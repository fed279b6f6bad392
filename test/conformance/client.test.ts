/** The client in TypeScript, as each runtime loads its bundle. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'bun:test';
import { linesOf } from '../../bench/peers/lines.ts';
import { Chromium } from '../harness/chromium.ts';
import { ComputerWorker } from '../harness/computer-worker.ts';
import { TestDisplay } from '../harness/display.ts';
import { needNodes, needPackages, nodeOf } from '../harness/interpreters.ts';
import { expect, repositoryRoot, test, type Sandbox } from '../harness/sandbox.ts';
import { startSite } from '../harness/site.ts';

const directory = mkdtempSync(join(tmpdir(), 'boxkeep-client-'));
const bundle = join(directory, 'boxkeep.mjs');
/** Minified and compressed. */
const maxBytes = 25_000;
const key = 'a-key-of-the-test';
let packages: string;

let chromium: Chromium;
let display: TestDisplay;
let worker: ComputerWorker;
const form = '<label>Name <input id=n></label><button onclick="document.title = `Hello ${n.value}`">Send</button>';
const site = startSite({
  '/form': () => new Response(`<!doctype html>${form}`, { headers: { 'content-type': 'text/html' } }),
});

beforeAll(async () => {
  needNodes();
  chromium = await Chromium.start();
  display = await TestDisplay.start();
  worker = await ComputerWorker.start({ env: display.environment });
  packages = needPackages('typescript');
  const { outputs } = await Bun.build({
    entrypoints: [join(repositoryRoot, 'clients/typescript/src/index.ts')],
    target: 'browser',
    minify: true,
  });
  await Bun.write(bundle, outputs[0]!);
});
afterAll(async () => {
  await chromium[Symbol.asyncDispose]();
  await worker[Symbol.asyncDispose]();
  await display[Symbol.asyncDispose]();
  site.stop();
  rmSync(directory, { recursive: true });
});

const runtimes = { 'Node 18': () => nodeOf(18), 'Node 24': () => nodeOf(24), Bun: () => process.execPath };

/** What a program of test/clients/typescript prints, by name. Kills or upgrades the daemon where it asks. */
async function shownBy(
  runtime: string,
  program: string,
  sandbox: Sandbox,
  ...more: readonly string[]
): Promise<Record<string, unknown>> {
  const path = join(repositoryRoot, 'test/clients/typescript', program);
  const client = Bun.spawn([runtime, path, bundle, sandbox.url, key, sandbox.directory, packages, ...more], {
    env: { PATH: process.env['PATH'], HOME: sandbox.directory },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const complaints = client.stderr.text();
  const shown: Record<string, unknown> = {};
  for await (const line of linesOf(new Response(client.stdout))) {
    const [what, value] = JSON.parse(line) as [string, unknown];
    if (what === 'upgrade') expect((await sandbox.upgrade()).code).toBe(0);
    else if (what === 'kill') process.kill(sandbox.daemonPid, 'SIGKILL');
    else {
      shown[what] = value;
      continue;
    }
    await sandbox.served();
    await client.stdin.write('\n');
    await client.stdin.flush();
  }
  expect([await client.exited, await complaints]).toEqual([0, '']);
  return shown;
}

const options = { env: { SVC_API_KEY: key }, expectedWarnings: ['started again by init'], timeoutMs: 60_000 };

for (const [name, runtime] of Object.entries(runtimes)) {
  test(
    `CLIENT-COMMANDS commands run once, and their output comes whole, over kills of the daemon (${name})`,
    async ({ sandbox }) => {
      expect(await shownBy(runtime(), 'commands.mjs', sandbox)).toEqual({
        run: [true, 3, 'out', 'err'],
        absent: ['ENOENT', 'failed'],
        refused: [false, 'bad_argument', false, 'ENOENT'],
        thrown: ['invalid_input', 422, expect.any(String)],
        'wrong key': ['unauthorized', 401, `${sandbox.url} does not accept the key`],
        'no key': ['unauthorized', 401, `${sandbox.url} needs a key`],
        'not a key': ['bad_key', null, 'a key is printable ASCII without blanks at its ends'],
        'closed port': ['unreachable', null, expect.stringMatching(/^cannot reach http:\/\/127\.0\.0\.1:1: /)],
        'key in the address': ['bad_key', null, 'the address of a daemon carries no key'],
        'key is shown': false,
        input: [true, { type: 'exit', status: 'completed', exitCode: 4, signal: null }],
        'written too late': ['stdin_closed', 409, expect.any(String)],
        followed: [true, 'é\n', { type: 'exit', status: 'completed', exitCode: 0, signal: null }],
        once: [5, 'done\n', true, 'begun\nended\n'],
        lost: ['line\n', true, 0],
        away: ['Error: enough waits', ['unreachable false true', 'unreachable false true']],
        unknown: ['not_boxkeep', true],
        aborted: 'Error: enough',
        killed: { type: 'exit', status: 'killed', exitCode: 137, signal: 'SIGKILL' },
        connected: [0, '400000\n', 'é\n'],
        'from the end': ['exit'],
        listed: 0,
      });
    },
    options,
  );

  test(
    `CLIENT-TERMINALS output and input of a terminal come once, over lost connections, kills and upgrades (${name})`,
    async ({ sandbox }) => {
      expect(await shownBy(runtime(), 'terminals.mjs', sandbox)).toEqual({
        unknown: ['terminal_not_found', 'no terminal session has the id nobody'],
        'wrong key': ['unauthorized', `${sandbox.url} does not accept the key`],
        'no WebSocket': ['no_websocket', expect.stringContaining("WebSocket: (await import('ws')).WebSocket")],
        'no way': ['unreachable', `no WebSocket opens at ${sandbox.url}, although it answers HTTP`],
        aborted: 'Error: enough',
        'key is shown': false,
        output: { isLog: true, isText: true, isWhole: true, kinds: ['attached', 'away', 'restore'] },
        'read-only': ['forbidden', 'work is attached read-only'],
        input: true,
        'in doubt': ['input_in_doubt', 100, 'input_in_doubt'],
        title: 'name',
        resized: [90, 20],
        exec: '/tmp\n',
        screen: true,
        restored: [true, 0],
        listed: ['work'],
        slow: [true, true],
        end: [{ type: 'exit', exitCode: 3, signal: null }, { type: 'exit', exitCode: 3, signal: null }, 3],
        'written too late': 'terminal_ended',
        unnamed: 'expiring',
        left: 'detached',
        closed: 'terminal_not_found',
      });
    },
    options,
  );

  test(
    `CLIENT-FILES CLIENT-CODE files and code, with errors that have codes (${name})`,
    async ({ sandbox }) => {
      expect(await shownBy(runtime(), 'files-and-code.mjs', sandbox)).toEqual({
        read: 'two\nthree\n',
        stat: [0o100600, 15],
        list: ['a', 'c'],
        search: 1,
        grep: 1,
        gone: [false, 'file_not_found', 404, 'ENOENT'],
        kept: ['file_exists', false],
        'read again': 'one\nzwei\nthree\n',
        'written again': true,
        run: ['ok', '[ 2, 4 ]\n'],
        session: '21\n',
        failed: ['error', 'ZeroDivisionError'],
        sessions: ['kept'],
        closed: [false, 'session_not_found'],
        'by name': 15,
      });
    },
    options,
  );

  test(
    `CLIENT-TRANSFERS contents of any size arrive whole, over kills of the daemon, or not at all (${name})`,
    async ({ sandbox }) => {
      expect(await shownBy(runtime(), 'transfers.mjs', sandbox)).toEqual({
        upload: [60_000_000, true, 0o700],
        sources: [true, 2, 0, true, 3],
        once: ['gave_up', 'the upload broke off, and its source can be read once', false],
        absent: ['local_failed', true, false],
        altered: 'content_differs',
        download: [60_000_000, true, 60_000_000],
        broken: true,
        stopped: ['Error: enough', false],
        resumed: [true, true, 0o700],
        parts: [],
        small: [0, true, 'file_not_found'],
        changed: 'precondition_failed',
        'directory up': [4, true, 0o755],
        'directory down': [['link', 'ünï'], 0o755],
        'directory absent': ['local_failed', true],
        'directory gone': 'file_not_found',
        changes: [
          ['create', 'new'],
          ['lost', null],
          ['create', 'newer'],
        ],
        watchers: 0,
      });
    },
    options,
  );
}

test(
  'CLIENT-PLANES the browser, the desktop and the tools of MCP',
  async ({ sandbox }) => {
    expect(await shownBy(nodeOf(24), 'planes.mjs', sandbox, site.url('/form'))).toEqual({
      snapshot: true,
      clicked: 'Hello Ada',
      closed: true,
      picture: ['image/jpeg', true, [0xff, 0xd8]],
      unchanged: [0, true],
      stale: [false, 'ref_malformed'],
      screen: ['image/png', 1280, 800, [...Buffer.from('PNG')]],
      acted: [true, 20],
      batch: 2,
      tools: true,
      tool: true,
      'no tool': [false, 'tool_not_found', null],
    });
  },
  { env: () => ({ SVC_API_KEY: key, SVC_BROWSER_IDLE_SECONDS: '1', ...chromium.environment, ...worker.environment }) },
);

test('CLIENT-SIZE the client has no dependencies, and at most 25 kB minified and compressed', async () => {
  const text = await Bun.file(bundle).bytes();
  expect(Bun.gzipSync(text).length).toBeLessThan(maxBytes);
  const manifest = (await Bun.file(join(repositoryRoot, 'clients/typescript/package.json')).json()) as object;
  expect(Object.keys(manifest)).not.toContain('dependencies');
});
