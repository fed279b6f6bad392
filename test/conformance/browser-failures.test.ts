/** What a broken browser or a hostile page does to a call, and that the next call works. */
import { afterAll, beforeAll } from 'bun:test';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { Chromium } from '../harness/chromium.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { startSite, type Site } from '../harness/site.ts';
import { until } from '../harness/until.ts';

let chromium: Chromium;
let site: Site;

const html = (body: string) => new Response(body, { headers: { 'content-type': 'text/html' } });
const never = () => new Promise<Response>(() => null);

beforeAll(async () => {
  chromium = await Chromium.start();
  site = startSite({
    '/never': never,
    '/image-never-loads': () => html('<title>Slow</title><img src="/never">'),
    '/frame-polls': () => html('<title>Polls</title><iframe src="/never"></iframe>'),
    '/keeps-asking': () => html('<title>Stay</title><script>onbeforeunload = (e) => e.preventDefault()</script>'),
    '/alerts': () => html('<title>Alerts</title><button onclick="while (true) alert(1)">loop</button>'),
    '/eleven-alerts': () => html('<button onclick="for (let i = 0; i < 11; i++) alert(i)">eleven</button>'),
    '/loops': () => html('<title>Loops</title><button onclick="while (true);">loop</button>'),
    '/loops-while-loading': () => html('<title>Loops</title><script>while (true);</script>'),
    '/large': () => html(`<title>Large</title>${'<p>0123456789</p>'.repeat(50_000)}`),
  });
});

afterAll(async () => {
  await chromium[Symbol.asyncDispose]();
  site.stop();
});

const options = { env: () => ({ ...chromium.environment, SVC_BROWSER_IDLE_SECONDS: '1' }) };

async function refused(sandbox: Sandbox, route: string, body: object) {
  const startedMs = performance.now();
  const reply = await sandbox.request(`POST /v2/browser/${route}`, body);
  const { message, hint } = reply.body;
  return { status: reply.status, message, hint, seconds: (performance.now() - startedMs) / 1000 };
}

async function works(sandbox: Sandbox): Promise<void> {
  const { title } = await sandbox.ok('POST /v2/browser/navigate', { url: site.url('/plain') });
  expect(title).toBe('Plain');
  expect(await sandbox.ok('POST /v2/browser/evaluate', { expression: '1 + 1' })).toMatchObject({ value: 2 });
}

test('BROWSER-18 what is not a browser, or never answers, is 503 within seconds', async () => {
  const { Sandbox } = await import('../harness/sandbox.ts');
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => void sockets.add(socket)).listen(0, '127.0.0.1');
  await until('the server listens', () => silent.listening);
  const cases = [
    [(silent.address() as AddressInfo).port, 'it did not answer in time'],
    [new URL(site.url('/')).port, 'what listens there is not a browser'],
  ] as const;
  for (const [port, reason] of cases) {
    const sandbox = await Sandbox.start({ env: { BROWSER_REMOTE_DEBUGGING_PORT: String(port) } });
    const { status, message, seconds } = await refused(sandbox, 'evaluate', { expression: '1' });
    expect([status, message]).toEqual([503, `there is no browser at 127.0.0.1:${port}: ${reason}`]);
    expect(seconds).toBeLessThan(15);
    await sandbox.close();
  }
  for (const socket of sockets) socket.destroy();
  silent.close();
});

test(
  'BROWSER-18 a browser that dies during a call is 503, and one that has restarted is used again',
  async ({ sandbox }) => {
    await works(sandbox);
    const navigation = refused(sandbox, 'navigate', { url: site.url('/never') });
    await until('the navigation waits', async () => {
      const requests = await sandbox.ok('GET /v2/browser/network/requests?filter=/never');
      return (requests as unknown as object[]).length > 0;
    });
    await chromium.kill();
    expect(await navigation).toMatchObject({ status: 503, message: expect.stringContaining('closed the connection') });
    const gone = await refused(sandbox, 'evaluate', { expression: '1' });
    expect([gone.status, gone.message]).toEqual([
      503,
      `there is no browser at 127.0.0.1:${chromium.port}: nothing listens there`,
    ]);
    await chromium.launch();
    await works(sandbox);
  },
  options,
);

test(
  'BROWSER-19 a crashed page is reported, and can be loaded again',
  async ({ sandbox }) => {
    await works(sandbox);
    const crash = await refused(sandbox, 'navigate', { url: 'chrome://crash', timeout: 10 });
    expect(crash.status).toBeGreaterThanOrEqual(400);
    const after = await refused(sandbox, 'evaluate', { expression: '1', timeout: 5 });
    expect([after.status, after.message]).toEqual([503, expect.stringContaining('has crashed')]);
    await works(sandbox);
  },
  options,
);

test(
  'BROWSER-19 a page that never finishes loading is 504 in time, and can be used nevertheless',
  async ({ sandbox }) => {
    for (const path of ['/image-never-loads', '/frame-polls']) {
      const slow = await refused(sandbox, 'navigate', { url: site.url(path), timeout: 3 });
      expect([slow.status, slow.message]).toEqual([504, 'the page did not reach "load" within 3 s']);
      expect(slow.hint).toContain('domcontentloaded');
      const body = { url: site.url(path), wait_until: 'domcontentloaded', timeout: 20 };
      expect(await sandbox.ok('POST /v2/browser/navigate', body)).toMatchObject({ status: 200 });
      await works(sandbox);
    }
    const silent = await refused(sandbox, 'navigate', { url: site.url('/never'), timeout: 2 });
    expect([silent.status, silent.message]).toEqual([504, `${site.url('/never')} did not answer within 2 s`]);
    await works(sandbox);
  },
  options,
);

test(
  'BROWSER-19 dialogs are answered by the policy of the call, and an endless loop of them is stopped',
  async ({ sandbox }) => {
    await works(sandbox);
    const run = (expression: string, rest = {}) => sandbox.ok('POST /v2/browser/evaluate', { expression, ...rest });
    expect(await run('[confirm("sure?"), prompt("name?", "Ann")]')).toEqual({
      value: [false, null],
      type: 'object',
      dialogs: [
        { type: 'confirm', message: 'sure?', default_text: null, accepted: false },
        { type: 'prompt', message: 'name?', default_text: 'Ann', accepted: false },
      ],
    });
    expect(await run('[confirm("sure?"), prompt("name?")]', { dialogs: 'accept', dialog_text: 'Bo' })).toMatchObject({
      value: [true, 'Bo'],
    });
    const loop = await refused(sandbox, 'evaluate', { expression: 'while (true) alert(1)', timeout: 50 });
    expect(loop).toMatchObject({ status: 504, message: expect.stringContaining('stopped') });
    await works(sandbox);
  },
  options,
);

test(
  'BROWSER-19 a page whose script does not end is 504 in time, and the next call works',
  async ({ sandbox }) => {
    await sandbox.ok('POST /v2/browser/navigate', { url: site.url('/loops') });
    const looping = await refused(sandbox, 'click', { selector: 'button', timeout: 3 });
    expect([looping.status, looping.message]).toEqual([504, expect.stringContaining('did not answer within 3 s')]);
    expect(await sandbox.ok('POST /v2/browser/evaluate', { expression: '1 + 1' })).toMatchObject({ value: 2 });

    const loading = await refused(sandbox, 'navigate', { url: site.url('/loops-while-loading'), timeout: 3 });
    expect(loading.status).toBe(504);
    await works(sandbox);

    await sandbox.ok('POST /v2/browser/navigate', { url: site.url('/alerts') });
    expect((await refused(sandbox, 'click', { selector: 'button', timeout: 3 })).status).toBe(504);
    await works(sandbox);

    // This script ends by itself, so the click itself succeeds.
    await sandbox.ok('POST /v2/browser/navigate', { url: site.url('/eleven-alerts') });
    const eleven = await refused(sandbox, 'click', { selector: 'button' });
    expect([eleven.status, eleven.message]).toEqual([504, expect.stringContaining('opened 11 dialogs')]);
    await works(sandbox);
  },
  { ...options, timeoutMs: 120_000 },
);

test(
  'BROWSER-19 a command that the browser would read for minutes is refused at once',
  async ({ sandbox }) => {
    await works(sandbox);
    const long = 'x'.repeat(10 * 1024 * 1024);
    for (const [route, body] of [
      ['evaluate', { expression: `1 // ${long}` }],
      ['fill', { selector: 'body', value: long }],
      ['cdp', { method: 'Runtime.evaluate', params: { expression: `'${long}'` } }],
    ] as const) {
      const { status, message, hint } = await refused(sandbox, route, body);
      expect([route, status, message]).toEqual([route, 400, expect.stringContaining('at most 9437184 are sent')]);
      expect(hint).toContain('smaller');
    }
    await works(sandbox);
  },
  options,
);

test(
  'BROWSER-19 a page that asks before it is left is left, and the answer says so',
  async ({ sandbox }) => {
    await sandbox.ok('POST /v2/browser/navigate', { url: site.url('/keeps-asking') });
    // Only a page that a person has used may ask.
    await sandbox.ok('POST /v2/browser/cdp', {
      method: 'Runtime.evaluate',
      params: { expression: 'document.body.click()', userGesture: true },
    });
    const left = await sandbox.ok('POST /v2/browser/navigate', { url: site.url('/plain') });
    expect(left).toMatchObject({ title: 'Plain', dialogs: [{ type: 'beforeunload', accepted: true }] });
  },
  options,
);

test(
  'BROWSER-19 a tab that is closed during a call ends the call with 404',
  async ({ sandbox }) => {
    const tab = await sandbox.ok('POST /v2/browser/tabs', { url: site.url('/plain') });
    const call = refused(sandbox, 'evaluate', { expression: 'new Promise(() => {})', tab_id: tab['id'] });
    await sandbox.ok('POST /v2/browser/evaluate', { expression: '1', tab_id: tab['id'] });
    await sandbox.ok(`DELETE /v2/browser/tabs/${tab['id']}`);
    const { status, message } = await call;
    expect([status, message]).toEqual([404, `tab ${tab['id']} was closed during the call`]);
    await works(sandbox);
  },
  options,
);

test(
  'BROWSER-19 a value without JSON, a thrown error and an endless script are refused with the reason',
  async ({ sandbox }) => {
    await sandbox.ok('POST /v2/browser/navigate', { url: site.url('/large') });
    const cases: [string, number, string][] = [
      ['const a = {}; a.a = a; a', 400, 'has no JSON'],
      ['Symbol("x")', 400, 'a symbol'],
      ['document.body', 400, 'DOM node body'],
      ['throw new TypeError("no")', 400, 'TypeError: no'],
      ['Promise.reject(new Error("later"))', 400, 'Error: later'],
      ['nothing.at.all', 400, 'ReferenceError'],
      ['syntax error', 400, 'SyntaxError'],
      ['"x".repeat(100e6)', 400, 'characters'],
      ['Array(3e6).fill("abcdef")', 400, 'characters as JSON'],
      ['document.documentElement.outerHTML.repeat(40)', 400, 'characters'],
      ['while (true);', 504, 'stopped after 2 s'],
      ['new Promise(() => {})', 504, 'within 2 s'],
    ];
    for (const [expression, status, reason] of cases) {
      const { status: seen, message } = await refused(sandbox, 'evaluate', {
        expression,
        timeout: 2 + Number(status === 400) * 28,
      });
      expect([expression, seen, message]).toEqual([expression, status, expect.stringContaining(reason)]);
      expect(message).not.toContain('\n\n');
    }
    await works(sandbox);
  },
  { ...options, timeoutMs: 120_000 },
);

test(
  'BROWSER-19 URLs that cannot be loaded are refused with the next step',
  async ({ sandbox }) => {
    const cases: [string, number, string][] = [
      ['javascript:alert(1)', 400, 'javascript: URL'],
      ['javascript:1', 400, 'javascript: URL'],
      [' JaVaScRiPt:1', 400, 'javascript: URL'],
      ['file:80', 400, 'file: URL'],
      ['file:///etc/passwd', 400, 'file: URL'],
      ['view-source:file:///etc/passwd', 400, 'file: URL'],
      ['View-Source: view-source:\tFILE:///etc/passwd', 400, 'file: URL'],
      ['view-source:javascript:alert(1)', 400, 'javascript: URL'],
      ['devtools://devtools/bundled/inspector.html', 400, 'is not loaded'],
      ['chrome://quit', 400, 'is not loaded'],
      ['about:restart/', 400, 'is not loaded'],
      ['chrome:inducebrowsercrashforrealz', 400, 'is not loaded'],
      ['example.com', 400, 'not an absolute URL'],
      ['localhost:8080', 400, 'not an absolute URL'],
      ['', 422, ''],
      ['http://127.0.0.1:9/', 502, 'ERR_'],
      ['http://no-such-host.invalid/', 502, 'ERR_'],
      ['nonsense://x', 502, 'ERR_'],
    ];
    for (const [url, status, reason] of cases) {
      const { status: seen, message } = await refused(sandbox, 'navigate', { url, timeout: 20 });
      expect([url, seen, message]).toEqual([url, status, expect.stringContaining(reason)]);
    }
    const wrongTab = await refused(sandbox, 'navigate', { url: site.url('/plain'), tab_id: 'F'.repeat(32) });
    expect([wrongTab.status, wrongTab.message]).toEqual([404, `no tab with id ${'F'.repeat(32)}`]);
    await works(sandbox);
  },
  options,
);

test(
  'BROWSER-19 a picture that Chromium cannot draw is refused, and fits when it is scaled',
  async ({ sandbox }) => {
    await sandbox.ok('POST /v2/browser/navigate', { url: site.url('/tall?height=30000') });
    const whole = await sandbox.request('GET /v2/browser/screenshot?full_page=true');
    expect([whole.status, whole.body]).toMatchObject([400, { hint: expect.stringContaining('scale_to') }]);
    const scaled = await sandbox.fetch('GET /v2/browser/screenshot?full_page=true&scale_to=1000x10000');
    expect([scaled.status, scaled.headers.get('x-image-height')]).toEqual([200, '10000']);
    await scaled.bytes();
    // A display with two pixels for each pixel of CSS.
    const metrics = { width: 400, height: 300, deviceScaleFactor: 2, mobile: false };
    await sandbox.ok('POST /v2/browser/cdp', { method: 'Emulation.setDeviceMetricsOverride', params: metrics });
    await sandbox.ok('POST /v2/browser/navigate', { url: site.url('/tall?height=9000') });
    const dense = await sandbox.request('GET /v2/browser/screenshot?full_page=true');
    expect([dense.status, dense.body.message]).toEqual([400, expect.stringContaining('× 18000 pixels')]);
  },
  options,
);

test(
  'BROWSER-19 a hundred tabs are listed, and a tab in the background is drawn',
  async ({ sandbox }) => {
    const open = {
      method: 'Target.createTarget',
      params: { url: site.url('/plain'), background: true },
      browser: true,
    };
    for (let count = 0; count < 100; count += 1) await sandbox.ok('POST /v2/browser/cdp', open);
    const tabs = (await sandbox.ok('GET /v2/browser/tabs')) as unknown as { id: string; active: boolean }[];
    expect(tabs.length).toBeGreaterThanOrEqual(100);
    const active = tabs.filter((tab) => tab.active).map(({ id }) => id);
    const [hidden] = tabs.filter((tab) => !tab.active);
    const shot = await sandbox.fetch(`GET /v2/browser/screenshot?tab_id=${hidden?.id}`);
    expect([shot.status, (await shot.bytes()).length > 100]).toEqual([200, true]);
    const later = (await sandbox.ok('GET /v2/browser/tabs')) as unknown as { id: string; active: boolean }[];
    expect(later.filter((tab) => tab.active).map(({ id }) => id)).toEqual(active);
    for (const { id } of tabs.slice(1)) await sandbox.ok(`DELETE /v2/browser/tabs/${id}`);
  },
  { ...options, timeoutMs: 180_000 },
);

test(
  'BROWSER-19 many calls at once are answered, also on one page',
  async ({ sandbox }) => {
    await works(sandbox);
    const values = await Promise.all(
      Array.from({ length: 40 }, (_, n) => sandbox.ok('POST /v2/browser/evaluate', { expression: `${n} * 2` })),
    );
    expect(values.map(({ value }) => value)).toEqual(Array.from({ length: 40 }, (_, n) => n * 2));
  },
  options,
);
