/** The commands of docs/guide/browser.md and examples/order run as written, with Debian's Chromium. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'bun:test';
import { Chromium } from '../harness/chromium.ts';
import { needPrograms } from '../harness/programs.ts';
import { expect, repositoryRoot, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';

const guide = readFileSync(join(repositoryRoot, 'docs/guide/browser.md'), 'utf8');
const blocks = [...guide.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = '']) => block);
/** The browser of the guide has a fixed port; that of the test is already running. */
const isForThisBrowser = (block: string) => !block.includes('chromium --headless');
const example = join(repositoryRoot, 'examples/order');
const flow = readFileSync(join(example, 'flow.sh'), 'utf8');

let browser: Chromium;

beforeAll(async () => {
  needPrograms('curl');
  browser = await Chromium.start();
});

afterAll(() => browser[Symbol.asyncDispose]());

const options = { env: () => ({ ...browser.environment, SVC_BROWSER_IDLE_SECONDS: '1' }) };

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** The script for this daemon, which has another address, its own directory and a free port for the page. */
async function adapted(script: string, { url, directory }: Sandbox): Promise<string> {
  return script
    .replaceAll('localhost:18091', new URL(url).host)
    .replaceAll('8000', String(await freePort()))
    .replaceAll('/tmp/order', `${directory}/order`)
    .replaceAll('curl -s ', "curl -sS -w '\\n' ");
}

/** The answers of the script, in order. */
async function run(script: string, { directory }: Sandbox): Promise<JsonObject[]> {
  const path = join(directory, 'example/flow.sh');
  writeFileSync(path, script);
  const shell = Bun.spawn(['sh', '-e', path], {
    env: { PATH: process.env['PATH'] },
    cwd: directory,
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr, code] = await Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited]);
  expect([code, stderr]).toEqual([0, '']);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JsonObject);
}

test(
  'BROWSER-5 BROWSER-4 BROWSER-3 an agent with curl builds a page, serves it, orders on it by refs and keeps a picture',
  async ({ sandbox }) => {
    cpSync(example, join(sandbox.directory, 'example'), { recursive: true });
    const answers = await run(await adapted(flow, sandbox), sandbox);

    expect(answers.filter(({ success }) => success !== true)).toEqual([]);
    const values = answers.map(({ data }) => (data as JsonObject | null)?.['value']).filter(Boolean);
    expect(values).toEqual(['Ada', '2', 'in an hour', 'Thank you, Ada: 5.00, in an hour']);
    const picture = readFileSync(join(sandbox.directory, 'order.png'));
    expect(picture.subarray(1, 4).toString()).toBe('PNG');
  },
  options,
);

test(
  'BROWSER-10 BROWSER-11 BROWSER-13 BROWSER-15 the commands of the guide run as written',
  async ({ sandbox }) => {
    cpSync(example, join(sandbox.directory, 'example'), { recursive: true });
    const [shown = '', ...others] = blocks.filter(isForThisBrowser);
    // The guide shows the example from its first step on.
    expect(flow).toEndWith(shown);
    // The page is served until the other commands have run.
    const kill = /^curl .*\/kill$/m.exec(flow)?.[0] ?? '';
    const script = [flow.replace(kill, ''), ...others, kill].join('\n');
    const answers = await run(await adapted(script, sandbox), sandbox);

    expect(answers.filter(({ success }) => success !== true)).toEqual([]);
    const snapshots = answers.filter((answer) => 'snapshot_id' in answer);
    expect(snapshots.map(({ data }) => data)).toEqual([
      ...[expect.stringContaining('textbox "Name"'), expect.stringContaining('status "Thank you, Ada')],
      expect.not.stringContaining('heading'),
      expect.stringMatching(/^.{0,400}$/s),
      { matches: [expect.objectContaining({ role: 'button', name: 'Order' })], total: 1 },
      expect.objectContaining({
        changed: [expect.objectContaining({ name: 'Name', value: 'Grace' }), expect.anything()],
      }),
    ]);
  },
  options,
);
