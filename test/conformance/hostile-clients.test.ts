/** Hostile clients: hundreds of slow ones, foreign host names in every spelling, and every route without a key. */
import { connect } from 'node:net';
import { StalledClients } from '../harness/stalled.ts';
import { exchange, rawRequest, statusOf } from '../harness/raw-http.ts';
import { expect, test, type Json, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const key = 'key-of-hostile-clients';

async function works(sandbox: Sandbox): Promise<void> {
  expect(await sandbox.run({ command: 'echo on; exit 4' })).toMatchObject({ stdout: 'on\n', exit_code: 4 });
}

/** Sends a beginning, then byte by byte until the server disconnects; returns the duration. */
function trickle(url: string, beginning: string, byte: string, everyMs: number): Promise<number> {
  const { hostname, port } = new URL(url);
  const began = performance.now();
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(beginning));
    const timer = setInterval(() => void socket.write(byte), everyMs);
    socket.on('error', () => null); // The test expects the disconnect.
    socket.resume();
    socket.on('close', () => {
      clearInterval(timer);
      resolve(performance.now() - began);
    });
  });
}

test(
  'HTTP-STALL clients that stall in a head, or send it byte by byte, are disconnected and do not affect other clients',
  async ({ sandbox }) => {
    const before = sandbox.descriptors().length;
    const post = 'POST /v2/commands HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000\r\n';
    await using stalled = new StalledClients(sandbox.url);
    await stalled.open(150, 'GET /health HTTP/1.1\r\nHost: localhost\r\nX-Half: ');
    await stalled.open(50, `${post}\r\n{"comm`);
    await stalled.open(50, '');
    const slow = [
      trickle(sandbox.url, 'GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: ', 'x', 100),
      trickle(sandbox.url, `${post}Connection: close\r\n\r\n{"command":"`, 'x', 100),
      trickle(sandbox.url, '', 'G', 100),
    ];
    await works(sandbox);

    // The runtime checks for idle connections every four seconds.
    for (const ms of await Promise.all(slow)) expect(ms).toBeLessThan(20_000);
    await until('all of them are gone', () => sandbox.descriptors().length <= before, 15_000);
    await works(sandbox);
  },
  { env: { SVC_IDLE_SECONDS: '1', SVC_BODY_STALL_SECONDS: '1' } },
);

test('AUTH-HOST every spelling of a host is judged by the name or address it denotes', async ({ sandbox }) => {
  const ask = async (target: string, headers: readonly string[]) =>
    statusOf(await exchange(sandbox.url, rawRequest(target, headers)));
  const hosts: readonly [string, number][] = [
    ['[::1]', 200],
    ['[::FFFF:127.0.0.1]:80', 200],
    ['[2001:db8::1]:18091', 200],
    ['LOCALHOST.', 200],
    ['127.0.0.1:18091', 200],
    ['EVIL.example.', 403],
    ['evil.example:80', 403],
    ['localhost.evil.example', 403],
    ['127.0.0.1.evil.example', 403],
    ['localhost..', 403],
    // A resolver may take these for an address, and a browser converts them to one before the request.
    ['2130706433', 403],
    ['0x7f000001', 403],
    ['127.1', 403],
    ['[evil.example]', 400],
    ['[::1', 400],
    ['localhost:evil', 400],
    ['localhost/evil', 400],
    ['evil.example@localhost', 400],
    ['localhost#evil.example', 400],
    ['localhost,evil.example', 400],
    ['localhost evil.example', 400],
    ['lоcalhost', 400], // The second letter is Cyrillic.
    ['', 400],
  ];

  for (const [host, status] of hosts) expect([host, await ask('/health', [`Host: ${host}`])]).toEqual([host, status]);
  expect(await ask('/health', [])).toBe(400);
  expect(await ask('/health', ['Host: localhost', 'hOST: evil.example'])).toBe(400);
  expect(await ask('/health', ['Host: evil.example', 'X-Forwarded-Host: localhost'])).toBe(403);
  for (const target of ['http://localhost/health', 'http://localhost@evil.example/health', '/../health']) {
    expect([target, await ask(target, ['Host: evil.example'])]).toEqual([target, 403]);
  }
  for (const target of ['*', 'evil.example:80', 'health'])
    expect([target, await ask(target, ['Host: localhost'])]).toEqual([target, 400]);
});

test('HTTP-BARE oversized heads, too many headers and bytes that are not HTTP are refused, and the next request is served', async ({
  sandbox,
}) => {
  const many = Array.from({ length: 100 }, (_, n) => `X-${n}: ${'x'.repeat(1000)}`);
  const odd: readonly [string, string][] = [
    ['a header of a megabyte', rawRequest('/health', ['Host: localhost', `X-Large: ${'x'.repeat(1_000_000)}`])],
    ['a hundred kilobytes in all', rawRequest('/health', ['Host: localhost', ...many])],
    ['a target of a megabyte', rawRequest(`/${'x'.repeat(1_000_000)}`, ['Host: localhost'])],
    ['a method of a megabyte', `${'X'.repeat(1_000_000)} / HTTP/1.1\r\nHost: localhost\r\n\r\n`],
    ['a line without an end', 'x'.repeat(1_000_000)],
    ['another protocol', 'SSH-2.0-client\r\n\r\n'],
    ['a header folded over two lines', rawRequest('/health', ['Host: localhost', ' evil.example'])],
    ['a length that is none', rawRequest('/health', ['Host: localhost', 'Content-Length: -1'])],
    ['two lengths', rawRequest('/health', ['Host: localhost', 'Content-Length: 1', 'Content-Length: 2'])],
  ];
  for (const [what, bytes] of odd) {
    const status = statusOf(await exchange(sandbox.url, bytes).catch(() => '')); // A reset is a refusal too.
    expect([what, Number.isNaN(status) || (status >= 400 && status < 500)]).toEqual([what, true]);
    await sandbox.request('GET /health');
  }
});

const publicRoutes = ['/', '/health', '/v1/ping', '/v1/openapi.json', '/v2/openapi.json', '/internal/auth'];

test(
  'AUTH-2 every operation that is not public is 401 without the key, whatever else is wrong with the request',
  async ({ sandbox }) => {
    const documents = await Promise.all(
      ['/v1', '/v2'].map(
        async (surface) => (await sandbox.fetch(`GET ${surface}/openapi.json`)).json() as Promise<Json>,
      ),
    );
    const operations = documents.flatMap(({ paths }) =>
      Object.entries<Json>(paths).flatMap(([path, served]) =>
        Object.keys(served).map((method) => [method, path] as const),
      ),
    );
    const closed = operations.filter(([, path]) => !publicRoutes.includes(path));
    expect(closed.length).toBeGreaterThanOrEqual(12);
    const spellings = [
      '/health/',
      '//health',
      '/HEALTH',
      '/health;',
      '/health%2f..%2fv2%2fcommands',
      '/v2/openapi.json/x',
      '/internal/auth/x',
    ];
    const asked = [
      ...closed.flatMap(([method, path]) => {
        const filled = path.replaceAll(/\{\w+\}/g, 'absent');
        return [
          `${method.toUpperCase()} ${filled}`,
          `HEAD ${filled}`,
          `PUT ${filled}`,
          `OPTIONS ${filled}`,
          `GET ${filled}?offset=x`,
        ];
      }),
      ...spellings.map((path) => `GET ${path}`),
    ];
    const upgrade = [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    ];
    const ask = async (route: string, headers: readonly string[]) => {
      const head = [`${route} HTTP/1.1`, 'Host: localhost', ...headers, 'Content-Length: 1'].join('\r\n');
      return [route, headers, statusOf(await exchange(sandbox.url, `${head}\r\n\r\n{`, 1000))];
    };
    for (const headers of [['Connection: close'], ['Connection: close', 'X-Api-Key: wrong'], upgrade]) {
      const answers = await Promise.all(asked.map((route) => ask(route, headers)));
      expect(answers).toEqual(asked.map((route) => [route, headers, 401]));
    }
    expect((await sandbox.request('GET /v2/commands', undefined, { 'x-api-key': key })).body.data).toEqual({
      commands: [],
    });
  },
  { env: { SVC_API_KEY: key } },
);
