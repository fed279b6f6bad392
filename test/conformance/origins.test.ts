/** The effect of pages of other origins on a daemon without a key, from a real browser. */
import { afterAll, beforeAll } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { TestBrowser } from '../harness/browser.ts';
import { expect, fixture, test, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const foreignHost = 'elsewhere.example';
let browser: TestBrowser;
/** Serves the foreign page on another loopback port. */
let pages: Bun.Server<undefined>;

beforeAll(async () => {
  browser = await TestBrowser.launch([foreignHost]);
  pages = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response(Bun.file(fixture('foreign-page.html'))),
  });
});
afterAll(async () => {
  await pages.stop(true);
  await browser[Symbol.asyncDispose]();
});

const ways = ['simple', 'form', 'sandboxed', 'data'] as const;

/** Makes a page of the host run a command in each way that needs no permission; returns the fate of its WebSocket. */
async function attack({ url, directory }: Sandbox, host: string): Promise<string> {
  await using opened = await browser.open();
  const commands = Object.fromEntries(ways.map((way) => [way, `touch ${join(directory, way)}`]));
  const parameters = new URLSearchParams({ url, commands: JSON.stringify(commands) });
  await opened.page.goto(`http://${host}:${pages.port}/?${parameters.toString()}`);
  await until('the page is done', async () => (await opened.page.title()) !== 'busy');
  return await opened.page.title();
}

const ran = ({ directory }: Sandbox) => ways.filter((way) => existsSync(join(directory, way)));

function statuses(sandbox: Sandbox): unknown[] {
  return sandbox
    .logLines()
    .filter((line) => line['message'] === 'request')
    .map((line) => line['status']);
}

for (const [whose, host] of [
  ['another loopback port', '127.0.0.1'],
  ['another host', foreignHost],
] as const) {
  test(`AUTH-ORIGIN a page of ${whose} runs no command and gets no terminal`, async ({ sandbox }) => {
    expect(await attack(sandbox, host)).toBe('error');
    await until('every request is logged', () => statuses(sandbox).length >= 5);
    expect([statuses(sandbox), ran(sandbox)]).toEqual([[403, 403, 403, 403, 403], []]);
  });
}

test(
  'AUTH-ORIGIN a page of a listed origin is served, frames without an origin are not',
  async ({ sandbox }) => {
    expect(await attack(sandbox, foreignHost)).toBe('open');
    await until('every request is logged', () => statuses(sandbox).length >= 5);
    expect([statuses(sandbox), ran(sandbox)]).toEqual([
      [200, 200, 403, 403, 101],
      ['simple', 'form'],
    ]);
  },
  { env: () => ({ SVC_CORS_ORIGINS: `http://${foreignHost}:${pages.port}` }) },
);
