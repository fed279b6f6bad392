/** A call that waits for a page or the browser ends as soon as these are gone, and says which. */
import { afterAll, beforeAll } from 'bun:test';
import { within } from '../harness/fair-clock.ts';
import { Chromium } from '../harness/chromium.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { startSite, type Site } from '../harness/site.ts';
import { until } from '../harness/until.ts';

let chromium: Chromium;
let site: Site;
let wasAsked = false;

const html = (body: string) => new Response(body, { headers: { 'content-type': 'text/html' } });
const never = () => new Promise<Response>(() => null);

beforeAll(async () => {
  chromium = await Chromium.start();
  site = startSite({
    '/never': never,
    '/once': () => (wasAsked ? never() : ((wasAsked = true), html('<title>Once</title>'))),
    '/never-loads': () => html('<title>Slow</title><img src="/never"><p>shown'),
    '/goes': () => html(`<title>Goes</title><a href="/never">link</a>`),
    '/reloads': () => html('<title>Reloads</title><script>setTimeout(() => location.reload(), 30)</script>'),
  });
});

afterAll(async () => {
  await chromium[Symbol.asyncDispose]();
  site.stop();
});

const options = { env: () => ({ ...chromium.environment, SVC_BROWSER_IDLE_SECONDS: '1' }), timeoutMs: 300_000 };

async function outcome(sandbox: Sandbox, call: string, body?: object) {
  const startedMs = performance.now();
  const reply = await sandbox.request(call, body);
  const { message, hint } = reply.body;
  return { status: reply.status, message, hint, seconds: (performance.now() - startedMs) / 1000 };
}

async function openTab(sandbox: Sandbox, path = '/plain'): Promise<string> {
  const tab = await sandbox.ok('POST /v2/browser/tabs', { url: site.url(path) });
  return tab['id'] as string;
}

/** Calls that wait for minutes, each on this tab. */
const longCalls: readonly (readonly [route: string, body: object])[] = [
  ['navigate', { url: '/never' }],
  ['navigate', { url: '/never-loads' }],
  ['navigate', { url: '/never-loads', wait_until: 'networkidle' }],
  ['evaluate', { expression: 'new Promise(() => {})' }],
  ['click', { selector: '#missing' }],
  ['fill', { selector: '#missing', value: 'x' }],
  ['upload', { selector: '#missing', paths: ['/etc/hostname'] }],
  ['snapshot', { wait_for: { text: 'never shown', timeout: 200 } }],
];

/** Begins each call on a tab of its own, and resolves when the browser is working on them. */
async function beginAll(sandbox: Sandbox, calls = longCalls) {
  const begun = [];
  for (const [route, body] of calls) {
    const tabId = await openTab(sandbox);
    const url = 'url' in body ? { url: site.url(body.url as string) } : {};
    const answer = outcome(sandbox, `POST /v2/browser/${route}`, { ...body, ...url, tab_id: tabId, timeout: 200 });
    if (route === 'navigate') await until('the navigation has begun', () => hasRequested(sandbox, tabId));
    else await sandbox.ok('POST /v2/browser/evaluate', { expression: '1', tab_id: tabId });
    begun.push({ route, tabId, answer });
  }
  return begun;
}

async function hasRequested(sandbox: Sandbox, tabId: string): Promise<boolean> {
  const requests = await sandbox.ok('GET /v2/browser/network/requests?filter=never');
  return (requests as unknown as { tab_id: string }[]).some(({ tab_id }) => tab_id === tabId);
}

test(
  'BROWSER-19 a navigation that was given up is stopped, and the next call on the tab works at once',
  async ({ sandbox }) => {
    const tab_id = await openTab(sandbox);
    const slow = await outcome(sandbox, 'POST /v2/browser/navigate', { url: site.url('/never'), timeout: 1, tab_id });
    expect([slow.status, slow.message]).toEqual([504, `${site.url('/never')} did not answer within 1 s`]);
    const value = await outcome(sandbox, 'POST /v2/browser/evaluate', {
      expression: 'document.title',
      timeout: 5,
      tab_id,
    });
    expect([value.status, value.seconds < 3]).toEqual([200, true]);
    await sandbox.ok('POST /v2/browser/navigate', { url: site.url('/once'), tab_id });
    const reload = await outcome(sandbox, 'POST /v2/browser/navigate', { history: 'reload', timeout: 1, tab_id });
    expect(reload.status).toBe(504);
    expect(await sandbox.ok('POST /v2/browser/evaluate', { expression: '1', timeout: 5, tab_id })).toMatchObject({
      value: 1,
    });
    const again = await outcome(sandbox, 'POST /v2/browser/navigate', { url: site.url('/plain'), timeout: 5, tab_id });
    expect([again.status, again.seconds < 3]).toEqual([200, true]);
    await sandbox.ok(`DELETE /v2/browser/tabs/${tab_id}`);
  },
  options,
);

test(
  'BROWSER-19 a page that waits for a silent server says so, and navigate leaves it at once',
  async ({ sandbox }) => {
    const tab_id = await openTab(sandbox, '/goes');
    await sandbox.ok('POST /v2/browser/evaluate', { expression: `location.href = '/never'`, tab_id });
    await until('the page waits', async () => {
      const { status, message } = await outcome(sandbox, 'POST /v2/browser/evaluate', {
        expression: '1',
        timeout: 1,
        tab_id,
      });
      if (status === 200) return false;
      expect([status, message]).toEqual([
        504,
        `the page of tab ${tab_id} waits for ${site.url('/never')}, which did not answer within 1 s`,
      ]);
      return true;
    });
    const left = await outcome(sandbox, 'POST /v2/browser/navigate', { url: site.url('/plain'), timeout: 10, tab_id });
    expect([left.status, left.seconds < 3]).toEqual([200, true]);
    await sandbox.ok(`DELETE /v2/browser/tabs/${tab_id}`);
  },
  options,
);

test(
  'BROWSER-19 every call on a tab that closes ends with 404 at once',
  async ({ sandbox }) => {
    for (const { route, tabId, answer } of await beginAll(sandbox)) {
      await sandbox.ok(`DELETE /v2/browser/tabs/${tabId}`);
      const { status, message } = await within(route, answer, 5000);
      expect([route, status, message]).toEqual([route, 404, `tab ${tabId} was closed during the call`]);
    }
  },
  options,
);

test(
  'BROWSER-19 every call on a page that crashes ends with 503 at once, and navigate loads the tab again at once',
  async ({ sandbox }) => {
    // A page that crashes while a server is silent does not end the navigation to that server.
    for (const { route, tabId: tab_id, answer } of await beginAll(sandbox, longCalls.slice(1))) {
      const crash = outcome(sandbox, 'POST /v2/browser/cdp', { method: 'Page.crash', tab_id, timeout: 20 });
      const { status, message } = await within(route, answer, 10_000);
      expect([route, status, message]).toEqual([route, 503, `the page of tab ${tab_id} has crashed`]);
      expect((await crash).status).toBe(503);
      const url = site.url('/plain');
      const again = await outcome(sandbox, 'POST /v2/browser/navigate', { url, timeout: 10, tab_id });
      expect([again.status, again.seconds < 5]).toEqual([200, true]);
      expect(await sandbox.ok('POST /v2/browser/click', { selector: 'h1', tab_id })).toMatchObject({ title: 'Plain' });
      await sandbox.ok(`DELETE /v2/browser/tabs/${tab_id}`);
    }
  },
  options,
);

test(
  'BROWSER-19 a page that crashed while the daemon was not connected is reported, and can be loaded again',
  async ({ sandbox }) => {
    const tab_id = await openTab(sandbox);
    await outcome(sandbox, 'POST /v2/browser/cdp', { method: 'Page.crash', tab_id, timeout: 20 });
    await until('the daemon has disconnected', async () => {
      const metrics = await sandbox.fetch('GET /metrics');
      return /^boxkeep_browser_connections 0$/m.test(await metrics.text());
    });
    for (const [route, body] of [
      ['evaluate', { expression: '1' }],
      ['click', { selector: 'h1' }],
      ['snapshot', {}],
    ] as const) {
      const seen = await outcome(sandbox, `POST /v2/browser/${route}`, { ...body, tab_id, timeout: 20 });
      expect([seen.status, seen.message]).toEqual([503, `the page of tab ${tab_id} has crashed`]);
    }
    const url = site.url('/plain');
    expect(await sandbox.ok('POST /v2/browser/navigate', { url, tab_id, timeout: 20 })).toMatchObject({
      title: 'Plain',
    });
    expect(await sandbox.ok('POST /v2/browser/snapshot', { tab_id })).toMatchObject({ name: 'Plain' });
    await sandbox.ok(`DELETE /v2/browser/tabs/${tab_id}`);
  },
  options,
);

test(
  'BROWSER-19 navigate from a page that reloads itself all the time ends at the URL that was asked for',
  async ({ sandbox }) => {
    const tab_id = await openTab(sandbox, '/reloads');
    for (const url of ['about:blank', site.url('/plain'), 'about:blank']) {
      await sandbox.ok('POST /v2/browser/navigate', { url: site.url('/reloads'), tab_id });
      expect(await sandbox.ok('POST /v2/browser/navigate', { url, tab_id })).toMatchObject({ url });
      expect(await sandbox.ok('POST /v2/browser/evaluate', { expression: 'location.href', tab_id })).toMatchObject({
        value: url,
      });
    }
    await sandbox.ok(`DELETE /v2/browser/tabs/${tab_id}`);
  },
  options,
);

test(
  'BROWSER-18 a browser that the system has stopped is noticed by every call within seconds, and used when it goes on',
  async ({ sandbox }) => {
    const begun = await beginAll(sandbox);
    process.kill(-chromium.pid, 'SIGSTOP');
    try {
      const listing = outcome(sandbox, 'POST /v2/browser/tabs', {});
      for (const { route, answer } of [...begun, { route: 'tabs', answer: listing }]) {
        const { status, message } = await within(route, answer, 30_000);
        const stalled = `the browser at 127.0.0.1:${chromium.port} has sent nothing for 10 s`;
        expect([route, status, message]).toEqual([route, 503, stalled]);
      }
      const later = await outcome(sandbox, 'POST /v2/browser/evaluate', { expression: '1' });
      expect([later.status, later.message]).toEqual([503, expect.stringContaining('did not answer in time')]);
    } finally {
      process.kill(-chromium.pid, 'SIGCONT');
    }
    const tab_id = await openTab(sandbox);
    expect(await sandbox.ok('POST /v2/browser/evaluate', { expression: '1', tab_id })).toMatchObject({ value: 1 });
  },
  options,
);

test(
  'BROWSER-18 every call ends with 503 at once when the browser dies',
  async ({ sandbox }) => {
    const begun = await beginAll(sandbox);
    await chromium.kill();
    for (const { route, answer } of begun) {
      const { status, message } = await within(route, answer, 5000);
      expect([route, status, message]).toEqual([route, 503, expect.stringContaining('closed the connection')]);
    }
    await chromium.launch();
    const tab_id = await openTab(sandbox);
    expect(await sandbox.ok('POST /v2/browser/evaluate', { expression: '1', tab_id })).toMatchObject({ value: 1 });
  },
  options,
);

test(
  'BROWSER-18 a call with a short time limit takes no answer from a call that waits for the same page',
  async ({ sandbox }) => {
    await openTab(sandbox);
    const createTarget = { method: 'Target.createTarget', params: { url: 'about:blank' }, browser: true };
    for (let round = 0; round < 40; round++) {
      const { targetId: tab_id } = await sandbox.ok('POST /v2/browser/cdp', createTarget);
      const snapshot = async (rest: object) =>
        (await sandbox.request('POST /v2/browser/snapshot', { tab_id, ...rest })).status;
      const short = snapshot({ timeout: 0.001 + round / 10_000 });
      const statuses = await Promise.all([snapshot({}), snapshot({})]);
      expect([round, ...statuses]).toEqual([round, 200, 200]);
      expect([200, 504]).toContain(await short);
      await sandbox.ok(`DELETE /v2/browser/tabs/${tab_id}`);
    }
  },
  options,
);
