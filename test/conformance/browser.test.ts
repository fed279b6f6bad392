/** What a client can do with the tabs, pages and cookies of a browser that already runs, under both prefixes. */
import { afterAll, beforeAll } from 'bun:test';
import { Chromium } from '../harness/chromium.ts';
import { expect, test, type Json, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';
import { startSite, type Site } from '../harness/site.ts';

let chromium: Chromium;
let site: Site;

beforeAll(async () => {
  chromium = await Chromium.start();
  site = startSite();
});

afterAll(async () => {
  await chromium[Symbol.asyncDispose]();
  site.stop();
});

/** The daemon disconnects within the leak check that follows each test. */
/** Nothing listens at the port discard. */
const nowhere = 'http://127.0.0.1:9';
const options = { env: () => ({ ...chromium.environment, SVC_BROWSER_IDLE_SECONDS: '1' }) };

const prefixes = ['/v1', '/v2'];

for (const prefix of prefixes) {
  test(
    `BROWSER-1 BROWSER-2 ${prefix} navigate loads a URL, reports title and status, and moves through the history`,
    async ({ sandbox }) => {
      const go = (body: object) => sandbox.ok(`POST ${prefix}/browser/navigate`, body);
      const first = await go({ url: site.url('/plain') });
      expect(first).toMatchObject({ url: site.url('/plain'), title: 'Plain', status: 200 });
      expect(await go({ url: site.url('/missing'), wait_until: 'domcontentloaded' })).toMatchObject({ status: 404 });
      expect(await go({ history: 'back' })).toMatchObject({ url: site.url('/plain'), title: 'Plain' });
      expect(await go({ history: 'forward' })).toMatchObject({ url: site.url('/missing') });
      expect(await go({ history: 'reload' })).toMatchObject({ url: site.url('/missing'), status: 404 });
      for (const wait_until of ['load', 'networkidle', 'none']) {
        expect(await go({ url: site.url('/plain'), wait_until })).toMatchObject({ url: site.url('/plain') });
      }
      expect(await go({ url: `${site.url('/plain')}#part` })).toMatchObject({ url: `${site.url('/plain')}#part` });
      const reply = await sandbox.request(`POST ${prefix}/browser/navigate`, { url: site.url('/plain') });
      expect(reply.body).toMatchObject({ success: true, message: 'Navigated' });
    },
    options,
  );

  test(
    `BROWSER-1 BROWSER-6 ${prefix} evaluate returns values as JSON with their type`,
    async ({ sandbox }) => {
      const run = (expression: string, rest = {}) =>
        sandbox.ok(`POST ${prefix}/browser/evaluate`, { expression, ...rest });
      await sandbox.ok(`POST ${prefix}/browser/navigate`, { url: site.url('/plain') });
      expect(await run('1 + 1')).toEqual({ value: 2, type: 'number' });
      expect(await run('document.title')).toEqual({ value: 'Plain', type: 'string' });
      expect(await run('({a: [1, "é", null]})')).toEqual({ value: { a: [1, 'é', null] }, type: 'object' });
      expect(await run('undefined')).toEqual({ value: null, type: 'undefined' });
      expect(await run('null')).toEqual({ value: null, type: 'object' });
      expect(await run('0 / 0')).toEqual({ value: 'NaN', type: 'number' });
      expect(await run('2n ** 64n')).toEqual({ value: '18446744073709551616', type: 'bigint' });
      expect(await run('Promise.resolve(7)')).toEqual({ value: 7, type: 'number' });
      expect(await run('await Promise.resolve(8)')).toEqual({ value: 8, type: 'number' });
      expect(await run('() => location.pathname')).toEqual({ value: '/plain', type: 'string' });
      expect(await run('const twice = 1; twice')).toEqual(await run('const twice = 1; twice'));
    },
    options,
  );

  test(
    `BROWSER-1 BROWSER-15 ${prefix} tabs are listed, opened, activated and closed by their target id`,
    async ({ sandbox }) => {
      const list = async (): Promise<Json[]> => (await sandbox.ok(`GET ${prefix}/browser/tabs`)) as unknown as Json[];
      const [first] = await list();
      const opened = await sandbox.ok(`POST ${prefix}/browser/tabs`, { url: site.url('/plain') });
      expect(opened).toMatchObject({ type: 'page', title: 'Plain', url: site.url('/plain'), active: true });
      expect(opened['id']).toBe(opened['target_id']);
      expect(Object.keys(opened).toSorted()).toEqual(
        ['active', 'id', 'index', 'tab_id', 'target_id', 'title', 'type', 'url'].toSorted(),
      );
      expect((await list()).map(({ active }) => active)).toContain(true);
      await sandbox.ok(`POST ${prefix}/browser/tabs/${first.id}/activate`, {});
      const active = (await list()).filter((tab) => tab.active);
      expect(active.map(({ id }) => id)).toEqual([first.id]);
      const there = await sandbox.ok(`POST ${prefix}/browser/evaluate`, {
        expression: 'document.title',
        tab_id: opened['id'],
      });
      expect(there['value']).toBe('Plain');
      await sandbox.ok(`POST ${prefix}/browser/evaluate`, {
        expression: `document.title = 'Renamed'`,
        tab_id: opened['id'],
      });
      expect((await list()).map(({ title }) => title)).toContain('Renamed');
      await sandbox.ok(`DELETE ${prefix}/browser/tabs/${opened['id']}`);
      expect((await list()).map(({ id }) => id)).not.toContain(opened['id']);
      const gone = await sandbox.request(`DELETE ${prefix}/browser/tabs/${opened['id']}`);
      expect([gone.status, gone.body]).toMatchObject([404, { message: `no tab with id ${opened['id']}` }]);
      // Many browsers end with their last tab.
      for (const { id } of await list()) await sandbox.ok(`DELETE ${prefix}/browser/tabs/${id}`);
      expect(await list()).toHaveLength(1);
    },
    options,
  );

  test(
    `BROWSER-1 BROWSER-3 ${prefix} screenshots have the size and type that their headers state`,
    async ({ sandbox }) => {
      await sandbox.ok(`POST ${prefix}/browser/navigate`, { url: site.url('/tall?height=5000') });
      const png = await picture(sandbox, `${prefix}/browser/screenshot`);
      expect([png.type, png.bytes.subarray(1, 4).toString()]).toEqual(['image/png', 'PNG']);
      expect(png.width).toBe(png.bytes.readUInt32BE(16));
      expect([png.screenWidth > 0, png.screenHeight > 0]).toEqual([true, true]);
      const whole = await picture(sandbox, `${prefix}/browser/screenshot?full_page=true`);
      // The scroll bar belongs to the window and not to the page.
      expect([whole.width <= png.width, whole.height]).toEqual([true, 5000]);
      const small = await picture(sandbox, `${prefix}/browser/screenshot?full_page=True&scale_to=200x200&format=jpg`);
      expect([small.type, small.bytes.subarray(0, 2).toString('hex')]).toEqual(['image/jpeg', 'ffd8']);
      expect(small.height).toBeLessThanOrEqual(200);
      const low = await picture(sandbox, `${prefix}/browser/screenshot?format=jpeg&quality=1`);
      const high = await picture(sandbox, `${prefix}/browser/screenshot?format=jpeg&quality=100`);
      expect(low.bytes.length).toBeLessThan(high.bytes.length);
      await sandbox.ok(`POST ${prefix}/browser/navigate`, { url: site.url('/plain') });
      const { etag } = await picture(sandbox, `${prefix}/browser/screenshot`);
      const again = `GET ${prefix}/browser/screenshot?if_changed_from=${encodeURIComponent(etag)}`;
      const same = await sandbox.fetch(again);
      expect([same.status, (await same.bytes()).length]).toEqual([304, 0]);
      await sandbox.ok(`POST ${prefix}/browser/evaluate`, { expression: 'document.body.append("more")' });
      const changed = await sandbox.fetch(again);
      expect([changed.status, changed.headers.get('etag') === etag]).toEqual([200, false]);
      await changed.bytes();
    },
    options,
  );

  test(
    `BROWSER-1 BROWSER-11 ${prefix} cookies are set, filtered and deleted`,
    async ({ sandbox }) => {
      const cookies = `${prefix}/browser/cookies`;
      const names = async (query = '') =>
        ((await sandbox.ok(`GET ${cookies}${query}`)) as unknown as Json[])
          .map(({ name }) => name as string)
          .toSorted();
      await sandbox.ok(`DELETE ${cookies}`);
      await sandbox.ok(`POST ${prefix}/browser/navigate`, { url: site.url('/plain') });
      await sandbox.ok(`POST ${cookies}`, {
        cookies: [
          { name: 'here', value: '1' },
          { name: 'there', value: '2', domain: 'other.example', path: '/deep', httpOnly: true },
        ],
      });
      expect(await names()).toEqual(['here', 'there']);
      expect(await names(`?urls=${site.url('/x')}`)).toEqual(['here']);
      expect(await names('?urls=http://other.example/deep/er,http://else.example')).toEqual(['there']);
      expect(await names('?domain=other.example')).toEqual(['there']);
      expect(await names(`?url=${site.url('/x')}&domain=`)).toEqual(['here']);
      expect(await names('?url=&urls=&domain=')).toEqual(['here', 'there']);
      // Each field has its name in the DevTools protocol and its name in snake_case.
      const [there] = (await sandbox.ok(`GET ${cookies}?domain=other.example`)) as unknown as JsonObject[];
      expect(there).toMatchObject({
        httpOnly: true,
        http_only: true,
        sourceScheme: 'NonSecure',
        source_scheme: 'NonSecure',
      });
      const given = { name: 'given', value: '3', url: site.url('/'), http_only: true, same_site: 'Strict' };
      await sandbox.ok(`POST ${cookies}`, { cookies: [given] });
      const all = (await sandbox.ok(`GET ${cookies}`)) as unknown as JsonObject[];
      expect(all.find(({ name }) => name === 'given')).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
      expect(await sandbox.ok(`DELETE ${cookies}?name=given&domain=`)).toEqual({ count: 1 });
      const seen = await sandbox.ok(`POST ${prefix}/browser/evaluate`, { expression: 'document.cookie' });
      expect(seen['value']).toBe('here=1');
      expect(await sandbox.ok(`DELETE ${cookies}?name=here`)).toEqual({ count: 1 });
      expect(await names()).toEqual(['there']);
      expect(await sandbox.ok(`DELETE ${cookies}?all=true`)).toEqual({ count: 1 });
      const refused = await sandbox.request(`POST ${cookies}`, {
        cookies: [{ name: 'x', value: 'y', url: 'nowhere' }],
      });
      expect([refused.status, refused.body]).toMatchObject([400, { hint: expect.stringContaining('domain') }]);
    },
    options,
  );

  test(
    `BROWSER-1 BROWSER-13 ${prefix} the newest requests of the pages in use are listed`,
    async ({ sandbox }) => {
      const list = async (query = '') =>
        (await sandbox.ok(`GET ${prefix}/browser/network/requests${query}`)) as unknown as Json[];
      await list('?clear=true');
      await sandbox.ok(`POST ${prefix}/browser/navigate`, { url: site.url('/plain') });
      await sandbox.ok(`POST ${prefix}/browser/evaluate`, { expression: `fetch('/missing').then(() => 1)` });
      await until('the answer is recorded', async () => (await list('?filter=/missing'))[0]?.duration_ms !== null);
      const [request] = await list('?filter=/missing');
      expect(request).toMatchObject({ method: 'GET', resource_type: 'Fetch', status: 404, error: null });
      expect(await list('?limit=1')).toHaveLength(1);
      expect((await list('?clear=true')).length).toBeGreaterThan(1);
      expect(await list()).toEqual([]);
    },
    options,
  );

  test(
    `BROWSER-1 BROWSER-9 BROWSER-12 FACT-5 ${prefix} info builds its URLs for the client, and cdp sends one command`,
    async ({ sandbox }) => {
      const forwarded = {
        'x-forwarded-proto': 'https',
        'x-forwarded-host': 'box.example',
        'x-forwarded-prefix': '/s/7',
      };
      const info = (await sandbox.request(`GET ${prefix}/browser/info?api_key=k%2F1`, undefined, forwarded)).body.data;
      expect(info['cdp_url']).toMatch(/^wss:\/\/box\.example\/s\/7\/cdp\/devtools\/browser\/[\w-]+\?api_key=k%2F1$/);
      expect(info['vnc_url']).toStartWith('https://box.example/s/7/vnc/index.html?');
      expect(info['user_agent']).toContain('Chrome/');
      expect([info['viewport'].width > 0, info['page_viewport'].height > 0]).toEqual([true, true]);
      const plain = await sandbox.ok(`GET ${prefix}/browser/cdp`);
      expect(plain['cdp_url']).toStartWith(`ws://127.0.0.1:${new URL(sandbox.url).port}/cdp/devtools/browser/`);
      const cdp = (body: object) => sandbox.request(`POST ${prefix}/browser/cdp`, body);
      expect((await cdp({ method: 'Browser.getVersion', browser: true })).body.data).toMatchObject({
        protocolVersion: '1.3',
      });
      const evaluated = await cdp({ method: 'Runtime.evaluate', params: { expression: '6 * 7' } });
      expect(evaluated.body.data).toMatchObject({ result: { value: 42 } });
      expect(await cdp({ method: 'No.such' })).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('No.such') },
      });
    },
    options,
  );
}

test(
  'BROWSER-3 a screenshot with labels shows the refs, and leaves nothing in the page',
  async ({ sandbox }) => {
    await sandbox.ok('POST /v2/browser/navigate', { url: site.url('/plain') });
    const page = 'document.body.innerHTML = `<button style="margin:60px">Save</button>`';
    await sandbox.ok('POST /v2/browser/evaluate', { expression: page });
    const plain = await picture(sandbox, '/v2/browser/screenshot');
    const labelled = await picture(sandbox, '/v2/browser/screenshot?labels=true');
    expect(labelled.etag).not.toBe(plain.etag);
    expect((await picture(sandbox, '/v2/browser/screenshot')).etag).toBe(plain.etag);
    const left = await sandbox.ok('POST /v2/browser/evaluate', {
      expression: 'document.documentElement.children.length',
    });
    expect(left['value']).toBe(2);
  },
  options,
);

test(
  'BROWSER-1 a browser of the sandbox is reached past the proxy that the environment names',
  async ({ sandbox }) => {
    expect(await sandbox.ok('POST /v2/browser/evaluate', { expression: '6 * 7' })).toMatchObject({ value: 42 });
  },
  { ...options, env: () => ({ ...options.env(), HTTP_PROXY: nowhere, http_proxy: nowhere, no_proxy: '' }) },
);

test(
  'BROWSER-20 capabilities and metrics report the browser, and an idle daemon disconnects',
  async ({ sandbox }) => {
    const { browser } = await sandbox.ok('GET /v1/capabilities');
    expect(browser).toMatchObject({ status: 'ready', process: true, cdp: true });
    expect(browser.version).toStartWith('Chrome/');
    const metric = async (name: string) => {
      const text = await (await sandbox.fetch('GET /metrics')).text();
      return Number(new RegExp(`^boxkeep_${name} (\\d+)$`, 'm').exec(text)?.[1]);
    };
    await sandbox.ok('POST /v2/browser/evaluate', { expression: '1' });
    expect([await metric('browser_connections'), await metric('browser_tabs')]).toEqual([1, 1]);
    await until('the daemon disconnects', async () => (await metric('browser_connections')) === 0);
  },
  options,
);

interface Picture {
  readonly type: string | null;
  readonly bytes: Buffer;
  readonly width: number;
  readonly height: number;
  readonly screenWidth: number;
  readonly screenHeight: number;
  readonly etag: string;
}

async function picture(sandbox: Sandbox, path: string): Promise<Picture> {
  const response = await sandbox.fetch(`GET ${path}`);
  expect([path, response.status]).toEqual([path, 200]);
  const { headers } = response;
  const number = (name: string) => Number(headers.get(name));
  return {
    type: headers.get('content-type'),
    bytes: Buffer.from(await response.bytes()),
    width: number('x-image-width'),
    height: number('x-image-height'),
    screenWidth: number('x-screen-width'),
    screenHeight: number('x-screen-height'),
    etag: headers.get('etag') ?? '',
  };
}
