/** Requests that client libraries rarely send: pipelined, half-closed, with trailers, in HTTP/1.0. */
import { existsSync, readFileSync } from 'node:fs';
import { METHODS } from 'node:http';
import { connect } from 'node:net';
import { exchange, rawRequest, statusOf } from '../harness/raw-http.ts';
import { expect, test } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const chunked = 'Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n';

function post(path: string, body: string, headers = `Content-Length: ${body.length}\r\n`): string {
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}\r\n${body}`;
}

function inChunks(body: string): string {
  return `${body.length.toString(16)}\r\n${body}\r\n0\r\nX-Sum: 1\r\n\r\n`;
}

/** Sends the request and shuts the client's side down at once, as `nc -N` does. Returns what arrives. */
function halfClosed(url: string, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    let answer = '';
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true }, () => socket.end(bytes));
    socket
      .setEncoding('utf8')
      .on('data', (text: string) => {
        answer += text;
      })
      .on('error', reject)
      .on('close', () => resolve(answer));
  });
}

test('HTTP-EDGE short requests can be pipelined', async ({ sandbox }) => {
  const answer = await exchange(
    sandbox.url,
    `GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n${rawRequest('/v1/ping', ['Host: localhost'])}`,
  );

  expect(answer.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
});

test('HTTP-EDGE no operation starts for a request that arrives together with bytes that break its connection', async ({
  sandbox,
}) => {
  const mark = `${sandbox.directory}/started`;
  const body = JSON.stringify({ command: `echo x >> ${mark}` });
  const request = post('/v2/commands', body);
  const cases = {
    'a second request behind one that is answered later': `${request}${request}`,
    'a line break between two requests': `${request}\r\n${request}`,
    'a line break before a request': `\r\n${request}`,
    'a chunked body with trailers': post('/v2/commands', inChunks(body), chunked),
    'a file with trailers': post(`/v2/fs/upload?path=${mark}`, inChunks(body), chunked),
    'a method that HTTP does not know': request.replace('POST', 'FOO'),
  };

  for (const [name, bytes] of Object.entries(cases)) {
    const answer = await exchange(sandbox.url, bytes);
    expect([name, answer.split(' ')[1] ?? 'closed']).toEqual([name, expect.stringMatching(/^(400|closed)$/)]);
  }

  expect(await sandbox.ok('GET /v2/commands')).toEqual({ commands: [] });
  expect(existsSync(mark)).toBe(false);
  expect((await sandbox.run({ command: `cat ${mark} || echo none` }))['stdout']).toBe('none\n');
});

test('HTTP-EDGE a request by hand whose client shuts its side down starts nothing without an answer', async ({
  sandbox,
}) => {
  const rounds = 40;
  const seen = { answered: 0, started: 0 };
  for (let n = 0; n < rounds; n++) {
    const mark = `${sandbox.directory}/mark-${n}`;
    const answer = await halfClosed(sandbox.url, post('/v2/commands', JSON.stringify({ command: `touch ${mark}` })));
    seen.answered += Number(answer.startsWith('HTTP/1.1 200'));
  }
  const { commands } = await sandbox.ok('GET /v2/commands');
  seen.started = (commands as unknown[]).length;
  expect(seen.started).toBe(seen.answered);
});

test('HTTP-EDGE a command whose answer was lost with the connection is sent again with its id and runs once', async ({
  sandbox,
}) => {
  const mark = `${sandbox.directory}/started`;
  const lose = {
    'half-closed': (bytes: string) => halfClosed(sandbox.url, bytes),
    'pipelined later': async (bytes: string) => {
      const { hostname, port } = new URL(sandbox.url);
      const socket = connect(Number(port), hostname, () => socket.write(bytes)).resume();
      const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
      await until('the command runs', () => existsSync(`${mark}-pipelined later`));
      socket.write(rawRequest('/health', ['Host: localhost']));
      await closed;
    },
  };

  for (const [name, send] of Object.entries(lose)) {
    const command = `echo x >> '${mark}-${name}'; sleep 0.5`;
    const body = { command, command_id: name.replace(' ', '-') };
    await send(post('/v2/commands', JSON.stringify(body)));

    expect(await sandbox.run(body)).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(readFileSync(`${mark}-${name}`, 'utf8')).toBe('x\n');
  }
});

test('ERR-405 every method that node:http lists is answered in the envelope, with the methods that are served', async ({
  sandbox,
}) => {
  const served = ['GET', 'HEAD', 'POST'];
  for (const method of METHODS.filter((name) => !served.includes(name))) {
    const request = rawRequest('/v2/commands', ['Host: localhost', 'User-Agent: test']).replace('GET', method);
    const answer = await exchange(sandbox.url, request);
    const body = { success: false, data: { allow: served } };
    expect([method, statusOf(answer)]).toEqual([method, 405]);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject(body);
  }
});

test(
  'AUTH-6 HTTP-401 a client that waits for 100 Continue with its body has the 401 without sending it',
  async ({ sandbox }) => {
    const waiting = (headers: string) =>
      post('/v2/commands', '', `Content-Length: 1000\r\nExpect: 100-continue\r\nConnection: close\r\n${headers}`);
    // The runtime answers the expectation first, whatever the daemon says.
    const refused = /^(?:HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 401 Unauthorized\r\n[^]*"success":false/;

    expect(await exchange(sandbox.url, waiting(''))).toMatch(refused);
    expect(await exchange(sandbox.url, waiting('x-api-key: wrong\r\n'))).toMatch(refused);
    expect(await sandbox.ok('GET /v2/commands', undefined, { 'x-api-key': 'sesame' })).toEqual({ commands: [] });
  },
  { env: { SVC_API_KEY: 'sesame' } },
);

test(
  'HTTP-10 an HTTP/1.0 health check needs no Host, and other routes need the key as always',
  async ({ sandbox }) => {
    const ask = (line: string, headers = '') => exchange(sandbox.url, `${line} HTTP/1.0\r\n${headers}\r\n`);
    const key = 'x-api-key: sesame\r\n';

    expect(statusOf(await ask('GET /health'))).toBe(200);
    expect(statusOf(await ask('HEAD /health'))).toBe(200);
    expect(statusOf(await ask('GET /v2/commands'))).toBe(401);
    expect(statusOf(await ask('GET /v2/commands', key))).toBe(200);
    expect(statusOf(await ask('GET /v2/commands?api_key=sesame'))).toBe(200);
    expect(statusOf(await ask('GET /health', 'Host: evil.example\r\n'))).toBe(403);
    const body = JSON.stringify({ command: 'echo ran' });
    const request = post('/v2/commands', body).replace('HTTP/1.1\r\nHost: localhost', `HTTP/1.0\r\n${key.trim()}`);
    expect(await exchange(sandbox.url, request)).toContain(String.raw`"stdout":"ran\n"`);
  },
  { env: { SVC_API_KEY: 'sesame', SVC_ALLOWED_HOSTS: 'box.example' } },
);
