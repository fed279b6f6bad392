/** The gateway of the images in front of a daemon: the key, public routes, prefixes, and the services behind it. */
import { afterAll, beforeAll } from 'bun:test';
import { readFileSync, rmSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { Chromium } from '../harness/chromium.ts';
import { Gateway } from '../harness/gateway.ts';
import { RawConnection, statusOf } from '../harness/raw-http.ts';
import { expect, test, type Json } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const key = 'gateway canary 7361';
const inUrl = `api_key=${encodeURIComponent(key)}`;
const keyed = {
  env: () => ({ SVC_API_KEY: key, SVC_BROWSER_IDLE_SECONDS: '1', ...browser.environment }),
};
let browser: Chromium;
/** Answers with what it received, as a service behind the gateway. */
let echo: Bun.Server<undefined>;

beforeAll(async () => {
  browser = await Chromium.start();
  echo = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      const { pathname, search } = new URL(request.url);
      if (pathname === '/refused') return new Response(null, { status: 409 });
      if (pathname === '/pieces') return new Response(request.body);
      if (pathname === '/moved') return new Response(null, { status: 302, headers: { location: '/login' } });
      return Response.json({ path: pathname, search, headers: Object.fromEntries(request.headers) });
    },
  });
});
afterAll(async () => {
  await echo.stop(true);
  await browser[Symbol.asyncDispose]();
});

const services = () => ({
  ...browser.environment,
  START_JUPYTER: 'true',
  START_CODE_SERVER: 'true',
});

/** One path of each location, and its status with the key. No notebook, IDE and bridge run here. */
const guarded = (): Readonly<Record<string, number>> => ({
  '/v2/sandbox': 200,
  '/metrics': 200,
  '/mcp': 405,
  '/vnc/': 200,
  '/vnc/index.html': 200,
  '/vnc/websockify': 503,
  '/websockify': 503,
  '/cdp/json/version': 200,
  '/cdp/devtools/devtools_app.html': 200,
  [`/proxy/${echo.port}/`]: 200,
  '/jupyter/lab': 503,
  '/code-server/': 503,
});

test(
  'AUTH-4 every location of the gateway needs the key, in any carrier, and public routes need none',
  async ({ sandbox }) => {
    await using gateway = await Gateway.start(sandbox, { key, env: services() });
    const carriers = [
      { 'x-svc-api-key': key },
      { 'x-api-key': key },
      { authorization: `Bearer ${key}` },
      { 'x-api-key': key, 'x-svc-api-key': key },
    ];
    for (const [path, status] of Object.entries(guarded())) {
      const refused = [{}, { 'x-svc-api-key': 'no' }, { 'x-api-key': key, 'x-svc-api-key': 'no' }];
      for (const headers of refused) expect([path, await gateway.status(path, headers)]).toEqual([path, 401]);
      for (const headers of carriers) expect([path, await gateway.status(path, headers)]).toEqual([path, status]);
      expect([path, await gateway.status(`${path}?${inUrl}`)]).toEqual([path, status]);
    }
    for (const path of ['/', '/health', '/v1/ping', '/v1/openapi.json', '/v2/openapi.json']) {
      expect([path, await gateway.status(path)]).toEqual([path, 200]);
    }
  },
  keyed,
);

test(
  'AUTH-4 a large body needs the key too, which reaches no service',
  async ({ sandbox }) => {
    await using gateway = await Gateway.start(sandbox, { key });
    const send = (path: string, headers: Record<string, string>) =>
      gateway.fetch(path, { method: 'POST', headers, body: 'x'.repeat(100_000) });
    const proxied = `/proxy/${echo.port}/`;
    for (const path of [proxied, `${proxied}?api_key=no`, '/v2/fs/write']) {
      expect([path, (await send(path, {})).status]).toEqual([path, 401]);
      expect([path, (await send(path, { 'x-api-key': 'no' })).status]).toEqual([path, 401]);
    }
    expect((await send('/v2/fs/write', { 'x-api-key': key })).status).toBe(400);
    const taken = await send(`${proxied}?${inUrl}`, { 'x-api-key': key, authorization: `Bearer ${key}` });
    expect(taken.status).toBe(200);
    const seen = await taken.text();
    expect(seen).toContain('"content-length":"100000"');
    for (const text of [key, encodeURIComponent(key)]) expect(seen).not.toContain(text);
    expect(await gateway.status('/proxy/1/')).toBe(401);
    expect((await send('/proxy/1/', { 'x-api-key': key })).status).toBe(503);
    const foreign = await send(proxied, { 'x-api-key': key, origin: 'https://elsewhere.example' });
    expect(foreign.status).toBe(403);
  },
  keyed,
);

test(
  'AUTH-4 the key reaches no service and no log, and a cookie carries it for the parts of a page',
  async ({ sandbox }) => {
    await using gateway = await Gateway.start(sandbox, { key, env: services() });
    const path = `/proxy/${echo.port}/a%20b`;
    const answer = await gateway.fetch(`${path}?one=1&${inUrl}&two=2`, { headers: { cookie: 'own=1' } });
    expect(await answer.json()).toMatchObject({ path: '/a%20b', search: '?one=1&two=2', headers: { cookie: 'own=1' } });
    const [cookie = ''] = answer.headers.getSetCookie();
    expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Strict$/);
    const carried = `own=1; ${cookie.split(';')[0]}; other=2`;
    const asCookie = await gateway.fetch(path, { headers: { cookie: carried, authorization: 'Basic dTpw' } });
    expect(await asCookie.json()).toMatchObject({ headers: { cookie: 'own=1; other=2', authorization: 'Basic dTpw' } });
    const headers = { 'x-svc-api-key': key, 'x-api-key': key, authorization: `Bearer ${key}` };
    const received = await (await gateway.fetch(path, { headers })).text();
    expect(await gateway.status('/v2/sandbox', { cookie: carried })).toBe(401);
    expect(await gateway.status(`/vnc/websockify?${inUrl}`)).toBe(503);
    const logged = '"path":"/vnc/websockify","status":503';
    await until('the gateway has logged the last request', () => gateway.output.includes(logged));
    for (const text of [received, gateway.output, sandbox.stdout]) {
      expect(text).not.toContain(key);
      expect(text).not.toContain(encodeURIComponent(key));
    }
  },
  keyed,
);

test(
  'IMG-32 Playwright drives the browser through the gateway, which writes its own address and prefix',
  async ({ sandbox }) => {
    await using gateway = await Gateway.start(sandbox, { key, env: services() });
    const outside = {
      ...{ 'x-api-key': key, 'x-forwarded-proto': 'https', 'x-forwarded-host': 'box.example' },
      'x-forwarded-prefix': '/s/7',
    };
    const version = (await (await gateway.fetch('/cdp/json/version', { headers: outside })).json()) as Json;
    expect(version['webSocketDebuggerUrl']).toStartWith('wss://box.example/s/7/cdp/devtools/browser/');
    const info = (await (await gateway.fetch('/v2/browser/info', { headers: outside })).json()) as Json;
    expect(info['data']['cdp_url']).toBe(version['webSocketDebuggerUrl']);
    const remote = await chromium.connectOverCDP(`${gateway.url}/cdp`, { headers: { 'x-api-key': key } });
    const page = await remote.newPage();
    await page.goto('data:text/html,<title>through the gateway</title>');
    expect(await page.title()).toBe('through the gateway');
    await page.close();
    await remote.close();
  },
  keyed,
);

test('IMG-GATEWAY a foreign page and a foreign host are refused at every location, without a key', async ({
  sandbox,
}) => {
  await using gateway = await Gateway.start(sandbox, { env: services() });
  const opened = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  const foreign = [
    { origin: 'https://elsewhere.example' },
    { host: 'elsewhere.example' },
    ...['cross-site', 'same-site'].flatMap((site) => [
      { 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
      { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
      { 'sec-fetch-site': site, ...opened, 'sec-purpose': 'prefetch' },
    ]),
  ];
  for (const [path, status] of Object.entries(guarded())) {
    expect([path, await gateway.status(path)]).toEqual([path, status]);
    for (const headers of foreign)
      expect([path, headers, await gateway.status(path, headers)]).toEqual([path, headers, 403]);
    const own = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'no-cors' };
    expect([path, await gateway.status(path, own)]).toEqual([path, status]);
    // A link leads to pages, and not to data.
    const isData = /^\/(v2|metrics|mcp|cdp\/json)/.test(path);
    const linked = await gateway.status(path, { 'sec-fetch-site': 'cross-site', ...opened });
    expect([path, linked]).toEqual([path, isData ? 403 : status]);
  }
});

test(
  'IMG-GATEWAY no foreign page embeds an answer of the gateway, and pages of listed origins do',
  async ({ sandbox }) => {
    await using gateway = await Gateway.start(sandbox, { env: services() });
    const policy = async (path: string, headers: Record<string, string>) => {
      const answer = await gateway.fetch(path, { headers });
      await answer.arrayBuffer();
      return answer.headers.get('cross-origin-resource-policy');
    };
    for (const path of [...Object.keys(guarded()), '/', '/vnc', `/proxy/${echo.port}`, '/nothing']) {
      expect([path, await policy(path, {})]).toEqual([path, 'same-origin']);
      expect([path, await policy(path, { origin: 'https://elsewhere.example' })]).toEqual([path, 'same-origin']);
    }
    for (const path of ['/v2/sandbox', '/cdp/json/version', `/proxy/${echo.port}/`])
      for (const headers of [{ origin: 'https://app.example' }, { referer: 'https://app.example/chat' }])
        expect([path, headers, await policy(path, headers)]).toEqual([path, headers, 'cross-origin']);
  },
  { env: () => ({ ...browser.environment, SVC_CORS_ORIGINS: 'https://app.example' }) },
);

test('IMG-GATEWAY a proxied program sees its own Host, and its redirects keep the prefix', async ({ sandbox }) => {
  await using gateway = await Gateway.start(sandbox);
  const prefix = { 'x-forwarded-prefix': '/s/7' };
  const moved = await gateway.fetch(`/proxy/${echo.port}/moved`, { headers: prefix });
  expect([moved.status, moved.headers.get('location')]).toEqual([302, `/s/7/proxy/${echo.port}/login`]);
  const bare = await gateway.fetch(`/proxy/${echo.port}`, { headers: prefix });
  expect([bare.status, bare.headers.get('location')]).toEqual([308, `/s/7/proxy/${echo.port}/`]);
  const seen = (await (await gateway.fetch(`/proxy/${echo.port}/x`, { headers: prefix })).json()) as Json;
  expect(seen['headers']).toMatchObject({
    ...{ host: `localhost:${echo.port}`, 'x-forwarded-prefix': `/s/7/proxy/${echo.port}` },
    'x-forwarded-host': new URL(gateway.url).host,
  });
  expect(await gateway.status('/jupyter/')).toBe(404);
  expect(await gateway.status('/code-server/')).toBe(404);
});

for (const [to, path, status] of [
  ['the daemon', () => '/v1/browser/page/evaluate', 404],
  ['a proxied program', () => `/proxy/${echo.port}/refused`, 409],
] as const) {
  test(`IMG-GATEWAY a connection stays usable after an answer of ${to} that does not wait for the body`, async ({
    sandbox,
  }) => {
    await using gateway = await Gateway.start(sandbox);
    using connection = new RawConnection(gateway.url);
    connection.send(headOfPost(path(), 'Content-Length: 5'));
    // By then an answer to the head alone would have come.
    for (let times = 0; times < 3; times++) expect(await gateway.status('/v1/ping')).toBe(200);
    expect(connection.received).toBe('');
    connection.send('12345');
    await until('the gateway has sent it', () => connection.received.includes('\r\n\r\n'));
    expect(statusOf(connection.received)).toBe(status);
    connection.send('GET /v1/ping HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    await until('the gateway has sent it', () => connection.received.includes('HTTP/1.1 200 OK'));
  });

  for (const length of ['Content-Length: 100000', 'Transfer-Encoding: chunked']) {
    test(`IMG-GATEWAY an answer of ${to} before a body with ${length} announces that the connection ends`, async ({
      sandbox,
    }) => {
      await using gateway = await Gateway.start(sandbox);
      using connection = new RawConnection(gateway.url);
      connection.send(headOfPost(path(), length));
      await until('the gateway has sent it', () => connection.received.includes('\r\n\r\n'));
      expect(statusOf(connection.received)).toBe(status);
      expect(connection.received).toContain('\r\nConnection: close\r\n');
    });
  }
}

test('IMG-GATEWAY a body of unknown length reaches a proxied program as it is sent', async ({ sandbox }) => {
  await using gateway = await Gateway.start(sandbox);
  using connection = new RawConnection(gateway.url);
  connection.send(headOfPost(`/proxy/${echo.port}/pieces`, 'Transfer-Encoding: chunked'));
  connection.send('5\r\nfirst\r\n');
  await until('the gateway has sent it', () => connection.received.includes('first'));
  connection.send('6\r\nsecond\r\n0\r\n\r\n');
  await until('the gateway has sent it', () => connection.received.includes('second'));
});

test('IMG-GATEWAY a large body reaches the daemon whole, in one piece and in chunks', async ({ sandbox }) => {
  await using gateway = await Gateway.start(sandbox);
  const path = `${sandbox.directory}/large`;
  const bytes = Buffer.alloc(3_000_000, 'large ');
  for (const body of [bytes, new Blob([bytes]).stream()]) {
    const headers = { 'content-type': 'application/octet-stream' };
    const written = await gateway.fetch(`/v2/fs/upload?path=${path}`, { method: 'POST', headers, body });
    expect(written.status).toBe(200);
    expect(readFileSync(path).equals(bytes)).toBe(true);
    rmSync(path);
  }
  const again = JSON.stringify({ path, content: 'x'.repeat(200_000) });
  const init = { method: 'POST', body: again, headers: { 'content-type': 'application/json' } };
  expect((await gateway.fetch('/v2/fs/write', init)).status).toBe(200);
  expect(readFileSync(path).length).toBe(200_000);
});

test('IMG-GATEWAY output and terminals pass through the gateway as they happen', async ({ sandbox }) => {
  await using gateway = await Gateway.start(sandbox);
  const id = await sandbox.start({ command: 'echo first; read line; echo "$line"' });
  const stream = await gateway.fetch(`/v2/commands/${id}?stream=true`, { headers: { accept: 'application/x-ndjson' } });
  let text = '';
  for await (const chunk of stream.body as unknown as AsyncIterable<Uint8Array>) {
    // The command waits for its input, so that an answer that is held back would never come.
    if (text === '') await sandbox.ok(`POST /v2/commands/${id}/stdin`, { input: 'second\n' });
    text += new TextDecoder().decode(chunk);
  }
  expect(text).toContain('first');
  expect(text).toContain('second');
  const { id: terminal } = await sandbox.ok('POST /v2/pty/sessions', {});
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v2/pty/sessions/${terminal}/ws`);
  await new Promise((resolve, reject) => {
    socket.addEventListener('message', resolve, { once: true });
    socket.addEventListener('error', reject, { once: true });
  });
  socket.close();
  await sandbox.ok(`DELETE /v2/pty/sessions/${terminal}`);
});

/** The head of a request whose body may follow. `length` is the header that describes the body. */
function headOfPost(target: string, length: string): string {
  const lines = ['Host: 127.0.0.1', 'Content-Type: application/json', length];
  return [`POST ${target} HTTP/1.1`, ...lines, '', ''].join('\r\n');
}
