/** The effect of pages of other origins on a daemon without a key, from a real browser. */
import { afterAll, beforeAll } from 'bun:test';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
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
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === '/redirect') return Response.redirect(searchParams.get('to') ?? '');
      const page = pathname === '/parts' ? 'foreign-parts.html' : 'foreign-page.html';
      return new Response(Bun.file(fixture(page)), { headers: { 'content-type': 'text/html; charset=utf-8' } });
    },
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

/** What a page would gain most from: a terminal, a file that parses as a script, and a tree that lands in Downloads. */
function addressesOf({ url, directory }: Sandbox): string[] {
  const script = join(directory, 'config.js');
  writeFileSync(script, 'globalThis.leaked = "secret"');
  const paths = [
    '/v1/shell/terminal-url',
    `/v2/fs/download?path=${encodeURIComponent(script)}`,
    `/v2/fs/tree?path=${encodeURIComponent(directory)}`,
    '/',
  ];
  return paths.map((path) => url + path);
}

const terminalsOf = async (sandbox: Sandbox) =>
  Object.keys((await sandbox.ok('GET /v2/pty/sessions'))['sessions'] as object);
const served = (sandbox: Sandbox) => statuses(sandbox).filter((status) => status !== 403);

for (const [whose, host] of [
  ['another port of this machine', '127.0.0.1'],
  ['another host', foreignHost],
] as const) {
  test(`AUTH-ORIGIN a page of ${whose} embeds, loads and links to nothing`, async ({ sandbox }) => {
    await using opened = await browser.open({ acceptDownloads: true });
    const { page } = opened;
    const downloads: string[] = [];
    const watch = (page: Page) => {
      page.context().on('page', (tab) => tab.on('download', (download) => downloads.push(download.url())));
      page.on('download', (download) => downloads.push(download.url()));
    };
    watch(page);
    const addresses = addressesOf(sandbox);
    const parameters = new URLSearchParams({ addresses: JSON.stringify(addresses) });
    await page.goto(`http://${host}:${pages.port}/parts?${parameters.toString()}`);
    await until('the page is done', async () => (await page.title()) === 'done');
    await until('every request is logged', () => statuses(sandbox).length >= 16 * addresses.length);
    expect(served(sandbox)).toEqual([]);
    expect(await page.evaluate('globalThis.leaked')).toBeUndefined();

    // Links, redirects and new tabs are navigations: only the console may be opened.
    const blank = `http://${host}:${pages.port}/parts?addresses=[]`;
    const answers = (status: number) => statuses(sandbox).filter((other) => other === status).length;
    for (const address of addresses) {
      const status = address.endsWith('/') ? 200 : 403;
      const text = JSON.stringify(address);
      const redirect = JSON.stringify(`http://${host}:${pages.port}/redirect?to=${encodeURIComponent(address)}`);
      for (const script of [`open(${text})`, `open(${redirect})`, `location = ${text}`]) {
        const before = answers(status);
        await using other = await browser.open({ acceptDownloads: true });
        watch(other.page);
        await other.page.goto(blank);
        await other.page.evaluate(`setTimeout(() => ${script})`); // The page may go before an evaluation could end.
        await until(`${script} is answered with ${status}`, () => answers(status) > before);
      }
    }
    const gains = sandbox.logLines().filter(({ route }) => /download|tree|terminal-url/.test(String(route)));
    expect(gains).toEqual([]);
    expect([downloads, await terminalsOf(sandbox)]).toEqual([[], []]);
  });
}

test('AUTH-ORIGIN what a person types is served, and so is the console with its own requests', async ({ sandbox }) => {
  await using opened = await browser.open();
  const [, script = ''] = addressesOf(sandbox);
  const download = opened.page.waitForEvent('download');
  await opened.page.goto(script).catch(() => null); // A download ends the navigation.
  expect((await download).suggestedFilename()).toBe('config.js');
  await opened.page.goto(sandbox.url);
  const status = (path: string) => opened.page.evaluate(async (path) => (await fetch(path)).status, path);
  expect([await status('/v2/sandbox'), await status('/v1/shell/terminal-url')]).toEqual([200, 200]);
});

test(
  'AUTH-ORIGIN a page of a listed origin embeds and frames answers, but only its own calls change anything',
  async ({ sandbox }) => {
    await using opened = await browser.open();
    const { page } = opened;
    await page.goto(`http://${foreignHost}:${pages.port}/parts?addresses=[]`);
    const [terminal = '', script = ''] = addressesOf(sandbox);
    const load = (name: string, attributes: object) =>
      page.evaluate<string>(`new Promise((resolve) => {
        const part = document.createElement(${JSON.stringify(name)});
        for (const event of ['load', 'error']) part.addEventListener(event, () => resolve(event));
        for (const [key, value] of Object.entries(${JSON.stringify(attributes)})) part.setAttribute(key, value);
        document.body.append(part);
      })`);
    expect(await load('script', { src: script })).toBe('load');
    expect(await page.evaluate('globalThis.leaked')).toBe('secret');
    await load('iframe', { src: sandbox.url });
    await until(
      'the console runs in the frame',
      async () =>
        (
          await page
            .frames()
            .at(-1)
            ?.title()
            .catch(() => '')
        )?.includes('boxkeep') ?? false,
    );
    await load('img', { src: terminal });
    await until('every request is logged', () => statuses(sandbox).includes(403));
    expect(statuses(sandbox).filter((status) => status === 403)).toEqual([403]);
    expect(await terminalsOf(sandbox)).toEqual([]);
    const called = await page.evaluate(async (url) => (await fetch(url)).status, terminal);
    expect([called, (await terminalsOf(sandbox)).length]).toEqual([200, 1]);
  },
  { env: () => ({ SVC_CORS_ORIGINS: `http://${foreignHost}:${pages.port}` }) },
);
