/** Whatever a page puts into its title, its URL, its requests or a value, the daemon holds a bounded part of it. */
import { afterAll, beforeAll } from 'bun:test';
import { readFileSync } from 'node:fs';
import { Chromium } from '../harness/chromium.ts';
import { inControlGroup } from '../harness/control-group.ts';
import { peakDuring } from '../harness/process-memory.ts';
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { startSite, type Site } from '../harness/site.ts';

let chromium: Chromium;
let site: Site;

beforeAll(async () => {
  chromium = await Chromium.start('--disable-popup-blocking');
  site = startSite();
});

afterAll(async () => {
  await chromium[Symbol.asyncDispose]();
  site.stop();
});

const options = { env: () => ({ ...chromium.environment, SVC_BROWSER_IDLE_SECONDS: '1' }), timeoutMs: 300_000 };

/** The most memory that the daemon has had so far. */
function peakMib(sandbox: Sandbox): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${sandbox.daemonPid}/status`, 'utf8'))?.[1]) / 1024;
}

const inPage = (sandbox: Sandbox, expression: string) =>
  sandbox.ok('POST /v2/browser/evaluate', { expression, timeout: 120 });

test(
  'BROWSER-19 a title of 400 MB, a URL of 30 MB and the like cost the daemon little memory, and every call works',
  async ({ sandbox }) => {
    await sandbox.ok('POST /v2/browser/navigate', { url: site.url('/plain') });
    await sandbox.ok('POST /v2/browser/snapshot', {});
    const before = peakMib(sandbox);
    const floods = [
      `document.title = 't'.repeat(4e8); 1`,
      `history.pushState(null, '', '?' + 'p'.repeat(3e7)); 1`,
      `window.name = 'n'.repeat(1e8); 1`,
      `fetch('data:text/plain,' + 'd'.repeat(3e7)).then(() => 1)`,
      `fetch('/plain', { headers: { long: 'h'.repeat(2e7) } }).then(() => 1, () => 1)`,
      `{ const frame = document.createElement('iframe'); frame.name = 'f'.repeat(3e7); document.body.append(frame) } 1`,
      `fetch('/plain', { method: 'M'.repeat(1e6) }).then(() => 1, () => 1)`,
      `fetch('data:text/' + 't'.repeat(1e6) + ',x').then(() => 1, () => 1)`,
      `document.body.title = 'a'.repeat(3e7); 1`,
      `alert('a'.repeat(1e8)); 1`,
    ];
    for (const flood of floods) {
      expect(await inPage(sandbox, flood)).toMatchObject({ value: 1 });
      const tree = await sandbox.ok('POST /v2/browser/snapshot', {});
      expect(String(tree['name']).length).toBeLessThan(5000);
    }
    expect((await sandbox.fetch('GET /v2/browser/screenshot')).status).toBe(200);
    const { url, title } = await sandbox.ok('POST /v2/browser/click', { selector: 'body' });
    expect([String(url).length, String(title).length]).toEqual([65_537, 4097]);
    expect(String(url)).toEndWith('…');
    const tabs = (await sandbox.ok('GET /v2/browser/tabs')) as unknown as JsonObject[];
    expect(JSON.stringify(tabs).length).toBeLessThan(200_000);
    // The request with the long URL is listed, and its URL is cut.
    const listed = async (filter: string) =>
      (await sandbox.ok(`GET /v2/browser/network/requests?filter=${filter}`)) as unknown as JsonObject[];
    expect((await listed('data:text/plain')).map(({ url: long }) => String(long).length)).toEqual([4096]);
    expect(Math.max(...(await listed('')).map((request) => JSON.stringify(request).length))).toBeLessThan(10_000);
    expect(peakMib(sandbox) - before).toBeLessThan(60);
  },
  options,
);

test(
  'BROWSER-19 a value or an error of 100 MB is refused, and the calls of other tabs go on',
  async ({ sandbox }) => {
    await sandbox.ok('POST /v2/browser/navigate', { url: site.url('/plain') });
    const { id } = await sandbox.ok('POST /v2/browser/tabs', { url: site.url('/plain') });
    const other = sandbox.ok('POST /v2/browser/evaluate', {
      expression: 'new Promise((done) => { window.finish = () => done("finished") })',
      tab_id: id,
      timeout: 250,
    });
    const cases = [
      `'x'.repeat(1e8)`,
      `throw 'x'.repeat(1e8)`,
      `throw new Error('x'.repeat(1e8))`,
      `Promise.reject('x'.repeat(1e8))`,
      `() => 'x'.repeat(1e8)`,
      `Symbol('x'.repeat(1e8))`,
      `({ ['k'.repeat(1e8)]: 1 })`,
      `({ get key() { return 'x'.repeat(1e8) } })`,
      `document.body.className = 'c'.repeat(3e7); document.body`,
    ];
    const [first] = (await sandbox.ok('GET /v2/browser/tabs')) as unknown as JsonObject[];
    for (const expression of cases) {
      const body = { expression, tab_id: first?.['id'], timeout: 120 };
      const { status, body: answer } = await sandbox.request('POST /v2/browser/evaluate', body);
      expect([expression, status]).toEqual([expression, 400]);
      expect(JSON.stringify(answer).length).toBeLessThan(5000);
    }
    expect(await sandbox.ok('POST /v2/browser/evaluate', { expression: 'finish()', tab_id: id })).toBeDefined();
    expect(await other).toMatchObject({ value: 'finished' });
  },
  options,
);

test(
  'BROWSER-19 what a page puts in the place of its title and its screen reaches no header and no answer',
  async ({ sandbox }) => {
    await sandbox.ok('POST /v2/browser/navigate', { url: site.url('/plain') });
    await inPage(
      sandbox,
      `Object.defineProperty(window, 'screen', { value: { width: 'w'.repeat(1e6), height: {} } });
       Object.defineProperty(document, 'title', { get: () => ({ slice: () => ({ a: 1 }) }) }); 1`,
    );
    const shot = await sandbox.fetch('GET /v2/browser/screenshot');
    expect([shot.status, shot.headers.get('x-screen-width'), shot.headers.get('x-screen-height')]).toEqual([
      200,
      '0',
      '0',
    ]);
    await shot.bytes();
    expect((await sandbox.ok('GET /v2/browser/info'))['viewport']).toEqual({ width: 0, height: 0 });
    const { title } = await sandbox.ok('POST /v2/browser/click', { selector: 'body' });
    expect(title).toBeTypeOf('string');
  },
  options,
);

/** `Runtime.evaluate` by value, as a client of the protocol asks for it. */
const throughProtocol = (expression: string): [string, object] => [
  'POST /v2/browser/cdp',
  { method: 'Runtime.evaluate', params: { expression, returnByValue: true } },
];
const evaluated = (expression: string): [string, object] => ['POST /v2/browser/evaluate', { expression }];

test(
  'BROWSER-19 PROMISE-10 values with more parts than a small machine has room for are refused, and the daemon lives',
  async ({ sandbox }) => {
    await sandbox.ok('POST /v2/browser/navigate', { url: site.url('/plain') });
    const calls = [
      evaluated('Array(5e6).fill({})'),
      evaluated('Array(8e6).fill(1)'),
      throughProtocol('Array(4e6).fill({})'),
      ...Array.from({ length: 8 }, () => evaluated('Array(4e6).fill(12)')),
    ];
    const peak = await peakDuring(sandbox, async () => {
      for (const { status, body } of await Promise.all(calls.map((call) => sandbox.request(...call))))
        expect([status, body.message]).toEqual([400, expect.stringMatching(/has more than 209715 values|characters/)]);
      const small = await Promise.all(Array.from({ length: 8 }, () => sandbox.ok(...evaluated('Array(2e5).fill({})'))));
      for (const { value } of small) expect(value).toHaveLength(200_000);
    });
    expect(peak).toBeLessThan(200);
  },
  inControlGroup({ memoryBytes: 256 * 1024 * 1024 }, options),
);

test(
  'BROWSER-19 a value that nests too deep, and a page with a JSON of its own, are refused with the reason',
  async ({ sandbox }) => {
    await sandbox.ok('POST /v2/browser/navigate', { url: site.url('/plain') });
    const nested = (depth: number) => `{ let o = {}; for (let i = 0; i < ${depth}; i++) o = { o }; o }`;
    expect((await sandbox.request(...evaluated(nested(400)))).status).toBe(200);
    const refused = {
      [nested(8000)]: 'the value is nested deeper than 500',
      [nested(100_000)]: 'the value is nested deeper than 500',
      'JSON.stringify = () => "not json"; ({ a: 1 })': 'a JSON.stringify of its own',
      'JSON.stringify = () => 7; ({ a: 1 })': 'a JSON.stringify of its own',
      'JSON.stringify = () => ({}); ({ a: 1 })': 'a JSON.stringify of its own',
    };
    for (const [expression, message] of Object.entries(refused)) {
      const { status, body } = await sandbox.request(...evaluated(expression));
      expect([expression, status, body.message]).toEqual([expression, 400, expect.stringContaining(message)]);
    }
    const { status } = await sandbox.request(...throughProtocol(nested(8000)));
    expect(status).toBe(400);
  },
  options,
);

test(
  'BROWSER-19 of thirty tabs that a page opens, twenty are listed and the others counted',
  async ({ sandbox }) => {
    await sandbox.ok('POST /v2/browser/navigate', { url: site.url('/plain') });
    const before = (await sandbox.ok('GET /v2/browser/tabs')) as unknown as JsonObject[];
    const opening = `for (let n = 0; n < 30; n++) window.open('about:blank#' + n); 1`;
    const { opened_tabs: listed, effects_left_out: others } = await sandbox.ok(...evaluated(opening));
    expect([listed.length, others]).toEqual([20, 10]);
    for (const { id } of (await sandbox.ok('GET /v2/browser/tabs')) as unknown as JsonObject[]) {
      if (!before.some((tab) => tab['id'] === id)) await sandbox.ok(`DELETE /v2/browser/tabs/${id}`);
    }
  },
  options,
);

test(
  'BROWSER-19 the advice for a text that is no URL leaves the scheme to the caller',
  async ({ sandbox }) => {
    for (const url of ['example.com/a', 'localhost:8080', 'http://', 'http://[::1']) {
      const { status, body } = await sandbox.request('POST /v2/browser/navigate', { url });
      expect([url, status, body.hint]).toEqual([url, 400, 'Pass a whole URL that begins with http:// or https://.']);
    }
  },
  options,
);
