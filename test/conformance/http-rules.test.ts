/** Requests that the daemon refuses before routing, the request log, and the limit of open streams. */
import { hostname } from 'node:os';
import { exchange, headOf, rawRequest, statusOf, upgradeRequest } from '../harness/raw-http.ts';
import { expect, test } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const key = 'canary-key-of-http-rules';
/** The time that a shell may take to start on a busy machine. */
const shellWithinMs = 30_000;

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

test('AUTH-HOST by default only loopback names, addresses and the machine’s host name are served, and the refusal names the setting', async ({
  sandbox,
}) => {
  const answer = await exchange(sandbox.url, rawRequest('/health', ['Host: box']));

  expect(statusOf(answer)).toBe(403);
  expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toEqual({
    success: false,
    message: 'the host box is not served here',
    data: { code: 'forbidden', retryable: false },
    hint: 'Use an IP address, localhost or the host name of this machine, or list the name in SVC_ALLOWED_HOSTS.',
  });
  expect(statusOf(await exchange(sandbox.url, rawRequest('/health', [`Host: ${hostname()}:18091`])))).toBe(200);
});

// oven-sh/bun#33002: the runtime drops the authority of an absolute request target before the daemon sees the request.
test('AUTH-TARGET the authority of an absolute request target is never used: only Host is checked', async ({
  sandbox,
}) => {
  const { host } = new URL(sandbox.url);
  const ask = (authority: string, name: string, ...headers: readonly string[]) => {
    const request = rawRequest(`http://${authority}/v1/shell/terminal-url`, [`Host: ${name}`, ...headers]);
    return exchange(sandbox.url, request, shellWithinMs);
  };

  const served = await ask('evil.example', host);
  expect([statusOf(served), served.includes('evil.example')]).toEqual([200, false]);
  expect(served).toContain(`http://${host}/#/terminal/`);
  expect(statusOf(await ask('localhost', 'evil.example'))).toBe(403);
  expect(statusOf(await ask('evil.example', host, 'Origin: http://evil.example'))).toBe(403);
  expect(statusOf(await ask('evil.example', host, `Origin: http://${host}`))).toBe(200);
});

test(
  'AUTH-HOST with a key any Host is served, where no names are listed',
  async ({ sandbox }) => {
    for (const host of ['box:18091', 'sandbox.example', 'localhost']) {
      const request = rawRequest('/v2/commands/x', [`Host: ${host}`, `X-Api-Key: ${key}`]);
      expect([host, statusOf(await exchange(sandbox.url, request))]).toEqual([host, 404]);
    }
    const foreign = ['Host: box:18091', `X-Api-Key: ${key}`, 'Origin: http://evil.example'];
    expect(statusOf(await exchange(sandbox.url, rawRequest('/v2/commands/x', foreign)))).toBe(403);
  },
  { env: { SVC_API_KEY: key } },
);

test(
  'AUTH-HOST with a key and a list of names, other names are 403',
  async ({ sandbox }) => {
    const ask = async (host: string) => {
      const request = rawRequest('/v2/commands/x', [`Host: ${host}`, `X-Api-Key: ${key}`]);
      return statusOf(await exchange(sandbox.url, request));
    };
    expect([await ask('named.example'), await ask(hostname()), await ask('box')]).toEqual([404, 404, 403]);
  },
  { env: { SVC_API_KEY: key, SVC_ALLOWED_HOSTS: 'named.example' } },
);

const openMessage = 'no key is set, and anyone who can connect runs commands. Set SVC_API_KEY.';

test(
  'AUTH-OPEN a daemon without a key on a public address logs one warning at each start, also when it finds old commands',
  async ({ sandbox }) => {
    const warnings = () => sandbox.logLines().filter(({ level }) => level === 'warn');
    const warning = { message: openMessage, host: '0.0.0.0' };
    expect(warnings()).toMatchObject([warning]);

    await sandbox.run({ command: 'true' });
    await sandbox.stop();
    await sandbox.launch();
    expect(warnings()).toMatchObject([warning, warning]);
  },
  { args: ['--host', '0.0.0.0'], expectedWarnings: [openMessage] },
);

test(
  'AUTH-ORIGIN an Origin that is neither that of the request nor listed is 403, for HTTP and WebSockets',
  async ({ sandbox }) => {
    const { host, port } = new URL(sandbox.url);
    const ask = async (origin: string) => {
      const headers = { origin, 'content-type': 'text/plain', 'x-forwarded-host': URL.parse(origin)?.host ?? 'x' };
      const posted = await sandbox.fetch('POST /v2/commands', { command: 'true' }, { headers });
      const upgraded = await headOf(sandbox.url, upgradeRequest('/v2/pty/ws', [`Host: ${host}`, `Origin: ${origin}`]));
      return [origin, posted.status, statusOf(upgraded)];
    };

    for (const origin of [`http://${host}`, 'https://app.example', 'http://dev.example:3000', 'http://10.9.9.9:3000'])
      expect(await ask(origin)).toEqual([origin, 200, 101]);
    for (const origin of [
      'http://203.0.113.9',
      `http://203.0.113.9:${port}`,
      'http://127.0.0.1',
      'http://127.0.0.1:3000',
      `http://localhost:${port}`,
      'http://[::1]:5',
      'http://evil.example',
      'null',
      'file://',
      'https://app.example.evil',
      'http://app.example',
    ]) {
      expect(await ask(origin)).toEqual([origin, 403, 403]);
    }
  },
  { env: { SVC_CORS_ORIGINS: 'https://app.example', SVC_ALLOWED_HOSTS: '*, dev.example, 10.9.9.9' } },
);

test(
  'AUTH-WS AUTH-8 svc.v2 is the only subprotocol ever selected, and the key alone is 400',
  async ({ sandbox }) => {
    const own = `svc.key.${Buffer.from(key).toString('base64url')}`;
    const ask = async (protocols: string | null, query: string) => {
      const lines = protocols === null ? [] : [`Sec-WebSocket-Protocol: ${protocols}`];
      const head = await headOf(sandbox.url, upgradeRequest(`/v2/pty/ws${query}`, ['Host: localhost', ...lines]));
      return [protocols, query, statusOf(head), /^sec-websocket-protocol: *(.*?)\r$/im.exec(head)?.[1] ?? null];
    };
    const withKey = `?api_key=${key}`;

    const cases: [string | null, string, number, string | null][] = [
      [`svc.v2, ${own}`, '', 101, 'svc.v2'],
      [`${own},svc.v2`, '', 101, 'svc.v2'],
      [`chat, ${own} , svc.v2`, '', 101, 'svc.v2'],
      [null, withKey, 101, null],
      ['svc.v2', withKey, 101, 'svc.v2'],
      ['chat', withKey, 101, null],
      ['chat, svc.v1', withKey, 101, null],
      [own, '', 400, null],
      [`chat, ${own}`, '', 400, null],
      [own, withKey, 400, null],
      [`svc.v2, svc.key.${Buffer.from('wrong').toString('base64url')}`, '', 401, null],
      ['svc.v2', '', 401, null],
      [null, '?api_key=wrong', 401, null],
    ];
    for (const expected of cases) expect(await ask(expected[0], expected[1])).toEqual(expected);
  },
  { env: { SVC_API_KEY: key } },
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
  'HTTP-CORS a listed origin gets CORS headers, and its preflight needs no key; other origins get none',
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
    const policy = async (line: string, headers: Record<string, string>) =>
      (await sandbox.fetch(line, undefined, { headers })).headers.get('cross-origin-resource-policy');
    for (const line of ['GET /', 'GET /health', 'GET /v2/sandbox', 'PUT /health', 'GET /nothing', 'GET /v2/pty/ws']) {
      expect([line, await policy(line, {})]).toEqual([line, 'same-origin']);
      expect([line, await policy(line, { origin: 'https://evil.example' })]).toEqual([line, 'same-origin']);
      expect([line, await policy(line, { origin })]).toEqual([line, 'cross-origin']);
    }
    expect((await sandbox.fetch('POST /v2/commands', { command: 'true' }, { headers: { origin } })).status).toBe(401);
    const local = { ...ask, origin: new URL(sandbox.url).origin };
    expect((await sandbox.fetch('OPTIONS /v2/commands', undefined, { headers: local })).status).toBe(401);
    expect(
      (await sandbox.fetch('GET /health', undefined, { headers: { origin: local.origin } })).headers.get(
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

test('HTTP-STRUCTURE a body with too many values or levels is 413, and at most a hundred mistakes are listed', async ({
  sandbox,
}) => {
  const refused = async (body: string) => {
    const { status, body: answer } = await sandbox.request('POST /v2/commands', body);
    return [status, answer.message];
  };
  const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`N${n}`, 1]));
  expect(await refused(JSON.stringify({ command: 'true', env: names(10_000) }))).toEqual([
    413,
    'the body has more than 10000 values',
  ]);
  expect(await refused(`{"a":${'['.repeat(101)}`)).toEqual([413, 'the body is nested deeper than 100']);

  const mistaken = await sandbox.request('POST /v2/commands', { command: 'true', env: names(5000) });
  expect([mistaken.status, mistaken.body.errors?.length]).toEqual([422, 100]);
});

test(
  'HTTP-STALL a body that stops arriving is 400 after a timeout',
  async ({ sandbox }) => {
    const head = 'POST /v2/commands HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n';
    const short = await exchange(sandbox.url, `${head}Content-Length: 100\r\n\r\n{"command":`, 10_000);
    expect(statusOf(short)).toBe(400);
    expect(short).toContain('the body has stalled for 1 s');
    expect(short).toContain('Send the whole body without a pause; nothing has been started.');
    const long = await exchange(sandbox.url, `${head}Content-Length: 1000000\r\n\r\n{"command":`, 10_000);
    expect(statusOf(long)).toBe(400);
  },
  { env: { SVC_BODY_STALL_SECONDS: '1' } },
);

test('HTTP-STALL a client that disconnects while sending is logged as a request, not as a bug', async ({ sandbox }) => {
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

    // The runtime checks every four seconds; only the daemon closes here, and an earlier close carries no answer.
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
  'HTTP-STREAMS one stream above the limit is 429, and a stream that ends frees its slot',
  async ({ sandbox }) => {
    const id = await sandbox.start({ command: 'echo here; sleep 1000' });
    const held = sandbox.lines(`/v2/commands/${id}?stream=true`);
    await held.next();
    const second = sandbox.lines(`/v2/commands/${id}?stream=true`);
    await second.next();

    const refused = await sandbox.request(`GET /v2/commands/${id}?stream=true`);
    expect(refused).toMatchObject({ status: 429, body: { message: '2 streams are open, which is the limit' } });
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
  'HTTP-STREAMS a HEAD of a stream returns headers, and takes no slot',
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
  'HTTP-LOG HTTP-REDACT each request is logged in one line, and no line contains a key',
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

test('AUTH-BIND without a key the daemon binds the loopback address, with a key every address', async ({ sandbox }) => {
  expect(new URL(sandbox.url).hostname).toBe('127.0.0.1');
});

test(
  'AUTH-BIND with a key the daemon binds every address',
  async ({ sandbox }) => {
    expect(new URL(sandbox.url).hostname).toBe('0.0.0.0');
  },
  { env: { SVC_API_KEY: key } },
);

test('HTTP-405 HTTP-401 HTTP-503 HTTP-HINT each status carries what a client needs for its next call', async ({
  sandbox,
}) => {
  const patched = await sandbox.request('PATCH /v2/commands', {});
  expect([patched.status, patched.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
  const running = await sandbox.request('POST /v2/commands', { command: 'sleep 1000', mode: 'async' });
  const path = `/v2/commands/${running.body.data['command_id']}`;
  expect(running.body.hint).toBe(
    `GET ${path}?wait=true&offset=0&stderr_offset=0 reads on; add stream=true to follow it. ` +
      `POST ${path}/stdin passes input.`,
  );
  const windows = await sandbox.request('POST /v2/commands', { command: 'dir', shell: 'cmd' });
  expect(windows).toMatchObject({ status: 503, body: { message: 'no cmd on PATH', hint: expect.any(String) } });
});
