/** What the daemon refuses before a route is asked, what it logs, and how many streams it keeps. */
import { exchange, rawRequest, statusOf } from '../harness/raw-http.ts';
import { expect, test } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const key = 'canary-key-of-http-rules';

test(
  'AUTH-HOST a Host that is neither loopback, an address nor allowed is 403',
  async ({ sandbox }) => {
    const ask = async (host: string, target = '/health') =>
      statusOf(await exchange(sandbox.url, rawRequest(target, [`Host: ${host}`])));
    const allowed = [
      'localhost',
      'LOCALHOST:99',
      'localhost.',
      'app.localhost',
      '127.0.0.1',
      '10.1.2.3:80',
      '[::1]',
      '[::1]:18091',
      'box',
      'Box.',
      'a.svc',
      'a.b.svc:80',
      'named.example',
    ];
    const refused = [
      'evil.example',
      'localhost.evil.example',
      'x.asvc',
      'a.svc.evil',
      'named.example.evil',
      '127.0.0.1.evil.example',
      'other.example',
      'evil.example:18091',
    ];

    for (const host of allowed) expect([host, await ask(host)]).toEqual([host, 200]);
    for (const host of refused) expect([host, await ask(host)]).toEqual([host, 403]);
    expect(await ask('1.2.3.4.5')).toBe(400);
    // An absolute request target does not make up for a wrong Host.
    expect(await ask('evil.example', 'http://localhost/health')).toBe(403);
    expect(await ask('evil.example', '/v2/openapi.json')).toBe(403);
  },
  { env: { SVC_ALLOWED_HOSTS: '*, *.svc, named.example' } },
);

test('AUTH-HOST without a setting only loopback names and addresses are served, and the answer says what to do', async ({
  sandbox,
}) => {
  const answer = await exchange(sandbox.url, rawRequest('/health', ['Host: box']));

  expect(statusOf(answer)).toBe(403);
  expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toEqual({
    success: false,
    message: 'the host box is not served here',
    data: null,
    hint: 'Use an IP address or localhost, or list the name in SVC_ALLOWED_HOSTS.',
  });
});

test(
  'AUTH-ORIGIN an Origin of elsewhere is 403, whatever it asks',
  async ({ sandbox }) => {
    const ask = async (origin: string) =>
      (await sandbox.fetch('POST /v2/commands', { command: 'true' }, { headers: { origin } })).status;

    for (const origin of ['http://localhost:3000', 'http://127.0.0.1', 'http://[::1]:5', 'https://app.example'])
      expect([origin, await ask(origin)]).toEqual([origin, 200]);
    for (const origin of [
      'http://evil.example',
      'null',
      'file://',
      'https://app.example.evil',
      'http://app.example',
      'http://localhost.evil.example',
    ]) {
      expect([origin, await ask(origin)]).toEqual([origin, 403]);
    }
  },
  { env: { SVC_CORS_ORIGINS: 'https://app.example' } },
);

test('AUTH-DOUBLE a doubled Host is 400', async ({ sandbox }) => {
  expect(statusOf(await exchange(sandbox.url, rawRequest('/health', ['Host: localhost', 'Host: evil.example'])))).toBe(
    400,
  );
  expect(statusOf(await exchange(sandbox.url, rawRequest('/health', ['Host: localhost', 'Host: localhost'])))).toBe(
    400,
  );
});

test(
  'HTTP-CORS a listed origin gets CORS, its preflight without a key; nobody else does',
  async ({ sandbox }) => {
    const origin = 'https://app.example';
    const ask = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-api-key' };
    const preflight = await sandbox.fetch('OPTIONS /v2/commands', undefined, { headers: ask });

    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe(origin);
    expect(preflight.headers.get('access-control-allow-headers')).toBe('x-api-key');
    const answer = await sandbox.fetch(
      'POST /v2/commands',
      { command: 'true' },
      { headers: { origin, 'x-api-key': key } },
    );
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(answer.headers.get('vary')).toBe('origin');
    expect((await sandbox.fetch('POST /v2/commands', { command: 'true' }, { headers: { origin } })).status).toBe(401);
    const local = { ...ask, origin: 'http://localhost' };
    expect((await sandbox.fetch('OPTIONS /v2/commands', undefined, { headers: local })).status).toBe(401);
    expect(
      (await sandbox.fetch('GET /health', undefined, { headers: { origin: 'http://localhost' } })).headers.get(
        'access-control-allow-origin',
      ),
    ).toBeNull();
  },
  { env: { SVC_CORS_ORIGINS: 'https://app.example', SVC_API_KEY: key } },
);

test('HTTP-413 a body over 32 MiB is 413 in the envelope, announced or not', async ({ sandbox }) => {
  const large = JSON.stringify({ command: 'true', env: { A: 'x'.repeat(33 * 1024 * 1024) } });
  const announced = await sandbox.request('POST /v2/commands', large);
  expect(announced).toMatchObject({
    status: 413,
    body: { success: false, message: 'the body is over the limit of 33554432 bytes', hint: expect.any(String) },
  });

  const chunked = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024).fill(0x20)),
  });
  const streamed = await sandbox.fetch('POST /v2/commands', undefined, { body: chunked });
  expect(streamed.status).toBe(413);
  await streamed.arrayBuffer();
});

test(
  'HTTP-STALL a body that stops arriving is given up',
  async ({ sandbox }) => {
    const head = 'POST /v2/commands HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n';
    const short = await exchange(sandbox.url, `${head}Content-Length: 100\r\n\r\n{"command":`, 10_000);
    expect(statusOf(short)).toBe(400);
    expect(short).toContain('the body has stalled for 1 s');
    const long = await exchange(sandbox.url, `${head}Content-Length: 1000000\r\n\r\n{"command":`, 10_000);
    expect(statusOf(long)).toBe(400);
  },
  { env: { SVC_BODY_STALL_SECONDS: '1' } },
);

test('HTTP-STALL a client that goes while it sends is no bug of the daemon', async ({ sandbox }) => {
  const head = 'POST /v2/commands HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: gone\r\n';
  await exchange(sandbox.url, `${head}Content-Length: 1000000\r\n\r\n{"command":"${'x'.repeat(1000)}`, 100);
  const lines = () => sandbox.logLines().filter((line) => line['request_id'] === 'gone');
  await until('it is logged', () => lines().length > 0);

  expect(lines()).toMatchObject([{ level: 'info', message: 'request', status: 400 }]);
});

test('HTTP-BARE framing errors and oversized headers are refused by the listener', async ({ sandbox }) => {
  const bare = async (headers: readonly string[]) =>
    statusOf(await exchange(sandbox.url, rawRequest('/health', headers)));

  expect(await bare(['Host: localhost', `X-Large: ${'x'.repeat(20_000)}`])).toBe(431);
  expect(await bare(['Host: localhost', ...Array.from({ length: 1000 }, (_, number) => `X-${number}: a`)])).toBe(431);
  expect(await bare(['Host: localhost', 'Content-Length: 1', 'Transfer-Encoding: chunked'])).toBe(400);
  expect((await sandbox.request('GET /health')).status).toBe(200);
});

test(
  'a connection is closed when it is idle, never while a request waits or a stream is silent',
  async ({ sandbox }) => {
    const id = await sandbox.start({ command: 'sleep 6' });
    const body = JSON.stringify({ command: 'sleep 6; echo waited' });
    const kept = 'HTTP/1.1\r\nHost: localhost\r\n';
    const requests: [string, string][] = [
      [`GET /health ${kept}\r\n`, '"healthy"'],
      [`POST /v2/commands ${kept}Content-Length: ${body.length}\r\n\r\n${body}`, 'waited'],
      [`GET /v2/commands/${id}?stream=true ${kept}\r\n`, '"completed"'],
      [`GET /v2/commands/${id}?wait=true ${kept}\r\n`, '"completed"'],
    ];

    // The runtime looks every four seconds; nobody but the daemon closes here, and an earlier end has no answer.
    const closed = requests.map(async ([request, answer]) => {
      const before = performance.now();
      const text = await exchange(sandbox.url, request, 15_000);
      return [request.split(' HTTP')[0], text.includes(answer), performance.now() - before < 14_000];
    });
    expect(await Promise.all(closed)).toEqual(requests.map(([request]) => [request.split(' HTTP')[0], true, true]));
  },
  { env: { SVC_IDLE_SECONDS: '1' } },
);

test(
  'HTTP-STREAMS one stream more than allowed is 429, and one that ended makes room',
  async ({ sandbox }) => {
    const id = await sandbox.start({ command: 'echo here; sleep 1000' });
    const held = sandbox.lines(`/v2/commands/${id}?stream=true`);
    await held.next();
    const second = sandbox.lines(`/v2/commands/${id}?stream=true`);
    await second.next();

    const refused = await sandbox.request(`GET /v2/commands/${id}?stream=true`);
    expect(refused).toMatchObject({ status: 429, body: { message: '2 streams are open, which is the most' } });
    await held.return(undefined);
    await until('its place is free', async () => {
      const third = await sandbox.fetch(`GET /v2/commands/${id}?stream=true`);
      await third.body?.cancel();
      return third.status === 200;
    });
    await second.return(undefined);
  },
  { env: { SVC_MAX_STREAMS: '2' } },
);

test(
  'HTTP-STREAMS a HEAD of a stream answers headers, and takes no place',
  async ({ sandbox }) => {
    const id = await sandbox.start({ command: 'echo here; sleep 1000' });
    for (let times = 0; times < 3; times++) {
      const head = await sandbox.fetch(`HEAD /v2/commands/${id}?stream=true`);
      expect([head.status, head.headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
    }

    const stream = sandbox.lines(`/v2/commands/${id}?stream=true`);
    expect((await stream.next()).value).toMatchObject({ type: 'start' });
    await stream.return(undefined);
  },
  { env: { SVC_MAX_STREAMS: '1' } },
);

test(
  'HTTP-LOG HTTP-REDACT one line is logged for each request, and a key in none',
  async ({ sandbox }) => {
    const headers = { 'x-api-key': key };
    await sandbox.request('POST /v2/commands', { command: 'true' }, { ...headers, 'x-request-id': 'r-1' });
    await sandbox.request(`GET /v2/commands/absent?api_key=${key}`, undefined, { 'x-request-id': 'r-2' });
    await sandbox.request('GET /v2/nothing', undefined, { 'x-request-id': 'r-3' });
    const { command_id: id } = await sandbox.ok('POST /v2/commands', { command: 'printf 12345' }, headers);
    await (
      await sandbox.fetch(`GET /v2/commands/${id}?stream=true`, undefined, {
        headers: { ...headers, 'x-request-id': 'r-4' },
      })
    ).text();
    const line = (requestId: string) => sandbox.logLines().filter((entry) => entry['request_id'] === requestId);
    await until('the stream is logged', () => line('r-4').length > 0);

    expect(line('r-1')).toEqual([
      {
        at: expect.any(String),
        level: 'info',
        message: 'request',
        request_id: 'r-1',
        method: 'POST',
        route: '/v2/commands',
        status: 200,
        ms: expect.any(Number),
        bytes: expect.any(Number),
        account: 'root',
      },
    ]);
    expect(line('r-2')).toMatchObject([{ route: '/v2/commands/{command_id}', status: 404 }]);
    expect(line('r-3')).toMatchObject([{ route: 'unmatched', status: 401 }]);
    expect(line('r-4')).toMatchObject([{ route: '/v2/commands/{command_id}', status: 200, bytes: expect.any(Number) }]);
    expect(sandbox.stdout.includes(key)).toBe(false);
  },
  { env: { SVC_API_KEY: key } },
);

test('AUTH-BIND without a key the daemon binds the loopback address, with one every address', async ({ sandbox }) => {
  expect(new URL(sandbox.url).hostname).toBe('127.0.0.1');
});

test(
  'AUTH-BIND with a key the daemon binds every address',
  async ({ sandbox }) => {
    expect(new URL(sandbox.url).hostname).toBe('0.0.0.0');
  },
  { env: { SVC_API_KEY: key } },
);

test('HTTP-405 HTTP-401 HTTP-503 HTTP-HINT the statuses come with what a client needs next', async ({ sandbox }) => {
  const patched = await sandbox.request('PATCH /v2/commands', {});
  expect([patched.status, patched.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
  const running = await sandbox.request('POST /v2/commands', { command: 'sleep 1000', mode: 'async' });
  expect(running.body.hint).toBe(
    `GET /v2/commands/${running.body.data['command_id']}?wait=true reads on; add stream=true to follow it.`,
  );
  const windows = await sandbox.request('POST /v2/commands', { command: 'dir', shell: 'cmd' });
  expect(windows).toMatchObject({ status: 503, body: { message: 'no cmd on PATH', hint: expect.any(String) } });
});
