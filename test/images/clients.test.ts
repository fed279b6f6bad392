/** Clients of the images, through the gateway only: the 1.x Python client, Playwright and MCP. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { chromium } from 'playwright-core';
import { Container } from '../harness/container.ts';
import { countsOf, PythonClient } from '../harness/python-client.ts';
import { until } from '../harness/until.ts';

setDefaultTimeout(900_000);
const slowMs = 120_000;
/** What 1.x users pass to `docker run`, and the shared memory for the browser. */
const flagsOf1x = ['--security-opt', 'seccomp=unconfined', '--rm', '--interactive', '--tty'];

const python = new PythonClient();
let open: Container;
let keyed: Container;

beforeAll(async () => {
  open = await Container.start({ args: flagsOf1x });
  keyed = await Container.start({ key: 'clients-canary' });
  for (const container of [open, keyed]) await container.untilServed('/cdp/json/version');
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await keyed[Symbol.asyncDispose]();
});

for (const mode of ['sync', 'async'] as const) {
  test(`IMG-3 VER-3 every method of the ${mode} 1.x Python client works on port 8080 with the flags of 1.x, and none answers 503`, async () => {
    await until('the worker answers', async () => (await open.status('/v2/computer/info')) === 200, slowMs);
    const calls = await python.drive(open.url, `/home/agent/${mode}`, mode, 'image');
    expect(calls.filter(({ got }) => got.includes('503'))).toEqual([]);
    const { methods, parsed } = countsOf(calls);
    expect(methods).toBeGreaterThan(125);
    expect(parsed).toBeGreaterThan(75);
  });
}

test('IMG-32 Playwright drives the browser of an image through /cdp, with the key in a header', async () => {
  const remote = await chromium.connectOverCDP(`${keyed.url}/cdp`, { headers: { 'x-svc-api-key': 'clients-canary' } });
  const page = await remote.newPage();
  await page.goto('data:text/html,<title>driven</title><button onclick="document.title=\'clicked\'">go</button>');
  await page.getByRole('button').click();
  expect(await page.title()).toBe('clicked');
  expect((await page.screenshot()).subarray(1, 4).toString()).toBe('PNG');
  const tabs = await keyed.ok('GET /v2/browser/tabs');
  expect(JSON.stringify(tabs)).toContain('clicked');
  await page.close();
  await remote.close();
  const withoutKey = chromium.connectOverCDP(`${keyed.url}/cdp`);
  expect(await withoutKey.catch((error: unknown) => String(error))).toContain('401');
});

test('MCP-7 an MCP client behind the gateway runs commands, and drives the browser with the tools of its server', async () => {
  await until('the tools are listed', async () => (await keyed.tools()).includes('browser_navigate'), slowMs);
  expect((await keyed.tools()).filter((name) => name.startsWith('browser_')).length).toBeGreaterThan(15);
  const url = 'data:text/html,<title>by MCP</title><p>hello from the page</p>';
  await keyed.mcp('tools/call', { name: 'browser_navigate', arguments: { url } });
  const text = await keyed.mcp('tools/call', { name: 'browser_get_markdown', arguments: {} });
  expect(JSON.stringify(text)).toContain('hello from the page');
  expect(JSON.stringify(await keyed.ok('GET /v2/browser/tabs'))).toContain('by MCP');
});

test('IMG-4 files written through the gateway belong to the preset account, and commands change them', async () => {
  await keyed.ok('POST /v2/fs/write', { path: '/home/agent/note.txt', content: 'one\n' });
  expect(await keyed.output('echo two >>note.txt && stat -c %U note.txt && cat note.txt')).toBe('agent\none\ntwo');
  const answer = await keyed.fetch('/v2/fs/read?path=/home/agent/note.txt');
  expect(await answer.text()).toContain('two');
});
