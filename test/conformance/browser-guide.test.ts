/** The commands of docs/guide/browser.md and examples/order run as written, with Debian's Chromium. */
import { cpSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'bun:test';
import { Chromium } from '../harness/chromium.ts';
import { blocksOf, runScript } from '../harness/guide.ts';
import { needPrograms } from '../harness/programs.ts';
import { expect, repositoryRoot, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';

const blocks = blocksOf('docs/guide/browser.md', 'sh');
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

/** Runs the script with a free port for the page, and the example in the directory of the test. */
async function run(script: string, sandbox: Sandbox): Promise<JsonObject[]> {
  const { directory } = sandbox;
  cpSync(example, join(directory, 'example'), { recursive: true });
  const adapted = script
    .replaceAll('8000', String(await freePort()))
    .replaceAll('/tmp/order', `${directory}/order`)
    .replace('$(dirname "$0")', `${directory}/example`);
  return await runScript(adapted, sandbox);
}

test(
  'BROWSER-5 BROWSER-4 BROWSER-3 an agent with curl builds a page, serves it, orders on it by refs and keeps a picture',
  async ({ sandbox }) => {
    const answers = await run(flow, sandbox);

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
    const [shown = '', ...others] = blocks.filter(isForThisBrowser);
    // The guide shows the example from its first step on.
    expect(flow).toEndWith(shown);
    const answers = await run([flow, ...others].join('\n'), sandbox);

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
