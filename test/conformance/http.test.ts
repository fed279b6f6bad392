/** The rules of every route: the envelope, the statuses, the key, the request id. */
import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, type Json, type Sandbox } from '../harness/sandbox.ts';

const envelopeKeys = ['data', 'hint', 'message', 'success'];
const key = 'canary-key-5f0c9a71be';
const withKey = { env: { SVC_API_KEY: key } };

/** Specification, Authentication 5. */
const publicRoutes = ['/', '/health', '/v1/ping', '/v1/openapi.json', '/v2/openapi.json', '/internal/auth'];

test('ENV-1 ENV-2 ENV-3 ENV-4 HTTP-NOSTORE every answer is the envelope', async ({ sandbox }) => {
  const good = await sandbox.request('POST /v2/commands', { command: 'true' });
  const bad = await sandbox.request('GET /v2/commands/absent');

  expect(Object.keys(good.body).toSorted()).toEqual(envelopeKeys);
  expect(Object.keys(bad.body).toSorted()).toEqual(envelopeKeys);
  expect(bad.body).toMatchObject({
    success: false,
    message: 'no command has the id absent',
    data: null,
    hint: expect.any(String),
  });
  expect(good.headers.get('cache-control')).toBe('no-store');
});

test('HTTP-NOSTORE no answer may be kept, whatever it is', async ({ sandbox }) => {
  const paths = [
    ...publicRoutes,
    '/v2/commands',
    '/v2/commands/absent',
    '/v2/commands?status=x',
    '/metrics',
    '/nothing',
  ];
  for (const path of paths) {
    const answer = await sandbox.fetch(`GET ${path}`);
    await answer.arrayBuffer();
    expect([path, answer.headers.get('cache-control')]).toEqual([path, 'no-store']);
  }
});

test('ERR-404 an unknown route and an unknown object are 404', async ({ sandbox }) => {
  expect((await sandbox.request('GET /v2/nothing')).status).toBe(404);
  expect((await sandbox.request('GET /v2/commands/absent')).status).toBe(404);
});

test('ERR-405 a wrong method names the right ones', async ({ sandbox }) => {
  const reply = await sandbox.request('PUT /v2/commands/absent', {});

  expect(reply.status).toBe(405);
  expect(reply.headers.get('allow')).toBe('DELETE, GET, HEAD');
  expect(reply.body.success).toBe(false);
});

test('ERR-400 a body that is no JSON object says so', async ({ sandbox }) => {
  for (const body of ['{', '[]', '7', 'null', '"x"', '{"command": "a" "b"}']) {
    const reply = await sandbox.request('POST /v2/commands', body);
    expect([body, reply.status]).toEqual([body, 400]);
    expect(reply.body.hint).toBe('Send one JSON object in UTF-8.');
  }
  const invalid = await sandbox.fetch('POST /v2/commands', undefined, { body: Buffer.from([0x7b, 0xff, 0x7d]) });
  expect(invalid.status).toBe(400);
});

test('ERR-422 HTTP-422 HTTP-TYPES HTTP-IDS each field that is wrong is named, with its kind', async ({ sandbox }) => {
  const cases: [Record<string, unknown>, string, string][] = [
    [{}, 'body.command', 'missing'],
    [{ command: 7 }, 'body.command', 'string_type'],
    [{ command: '' }, 'body.command', 'too_short'],
    [{ command: 'a\0b' }, 'body.command', 'value_error'],
    [{ command: 'a', shell: 'fish' }, 'body.shell', 'enum'],
    [{ command: 'a', args: 'b' }, 'body.args', 'array_type'],
    [{ command: 'a', args: ['b', 7] }, 'body.args.1', 'string_type'],
    [{ command: 'a', env: [] }, 'body.env', 'object_type'],
    [{ command: 'a', env: { A: 7 } }, 'body.env.A', 'string_type'],
    [{ command: 'a', timeout: -1 }, 'body.timeout', 'too_small'],
    [{ command: 'a', timeout: 'soon' }, 'body.timeout', 'float_type'],
    [{ command: 'a', hard_timeout: 1e12 }, 'body.hard_timeout', 'too_large'],
    [{ command: 'a', max_output_length: 1.5 }, 'body.max_output_length', 'int_type'],
    [{ command: 'a', merge: 'yes' }, 'body.merge', 'bool_type'],
    [{ command: 'a', command_id: '../x' }, 'body.command_id', 'pattern'],
    [{ command: 'a', command_id: 'sessions' }, 'body.command_id', 'value_error'],
    [{ command: 'a', mode: 'later' }, 'body.mode', 'enum'],
    [{ command: 'a', stdin: { data: 7 } }, 'body.stdin.data', 'string_type'],
  ];
  for (const [body, location, type] of cases) {
    const reply = await sandbox.request('POST /v2/commands', body);
    expect([body, reply.status]).toEqual([body, 422]);
    expect(reply.body.errors).toContainEqual({ location, message: expect.any(String), type });
    expect(Object.keys(reply.body).toSorted()).toEqual(['data', 'errors', 'hint', 'message', 'success']);
  }
  const query = await sandbox.request('GET /v2/commands/x?offset=-1&wait=maybe&limit_bytes=a');
  expect(query.body.errors?.map(({ location, type }) => [location, type])).toEqual([
    ['query.offset', 'too_small'],
    ['query.wait', 'bool_type'],
    ['query.limit_bytes', 'int_type'],
  ]);
});

test('V2-1 unknown fields are ignored, also those with the name of what every object has', async ({ sandbox }) => {
  expect(await sandbox.run({ command: 'echo ok', colour: 'blue' })).toMatchObject({ stdout: 'ok\n' });
  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    const listed = await sandbox.request(`GET /v2/commands?${name}=1`);
    expect([name, listed.status, listed.body.data]).toEqual([name, 200, { commands: [expect.anything()] }]);
    const body = `{"command": "", "${name}": {"command": "true"}, "env": {"constructor": 7}}`;
    const run = await sandbox.request('POST /v2/commands', body);
    expect([name, run.status, run.body.errors?.map(({ location, type }) => `${location} ${type}`)]).toEqual([
      name,
      422,
      ['body.command too_short', 'body.env.constructor string_type'],
    ]);
  }
});

test('HTTP-BADARG V2CMD-ARGS V2CMD-FREED what no schema can see is 400, with what to do', async ({ sandbox }) => {
  const cases: [Record<string, unknown>, RegExp][] = [
    [{ command: 'a', args: ['b'] }, /args is only for shell "none"/],
    [{ command: 'a', cwd: '/no/such/directory' }, /cwd \/no\/such\/directory: no such file or directory/],
    [{ command: 'a', cwd: '/etc/passwd' }, /cwd \/etc\/passwd: not a directory/],
    [{ command: 'a', user: 'no-such-account' }, /no account is named "no-such-account"/],
  ];
  for (const [body, message] of cases) {
    const reply = await sandbox.request('POST /v2/commands', { ...body, command_id: 'again' });
    expect([body, reply.status]).toEqual([body, 400]);
    expect(reply.body.message).toMatch(message);
    expect(reply.body.hint).toBeString();
  }
  expect(await sandbox.run({ command: 'echo free', command_id: 'again' })).toMatchObject({ replayed: false });
});

test('ERR-503 a shell that is not here is 503 and says what to do', async ({ sandbox }) => {
  const reply = await sandbox.request('POST /v2/commands', { command: 'a', shell: 'powershell' });

  expect(reply).toMatchObject({
    status: 503,
    body: { message: 'no powershell on PATH', hint: expect.stringContaining('Install') },
  });
});

test('HTTP-ID the request id is echoed, taken from a trace, or minted', async ({ sandbox }) => {
  const given = await sandbox.request('GET /health', undefined, { 'x-request-id': 'abc-1' });
  expect(given.headers.get('x-request-id')).toBe('abc-1');
  const traced = await sandbox.request('GET /health', undefined, {
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  });
  expect(traced.headers.get('x-request-id')).toBe('0af7651916cd43dd8448eb211c80319c');
  const minted = await sandbox.request('GET /health', undefined, { 'x-request-id': 'a b\n' });
  expect(minted.headers.get('x-request-id')).toMatch(/^req_/);
});

test('OPS-HEALTH health answers both habits of probe', async ({ sandbox }) => {
  const { status, body } = await sandbox.request('GET /health');

  expect(status).toBe(200);
  expect(body).toMatchObject({
    success: true,
    status: 'healthy',
    data: { status: 'healthy', uptime_s: expect.any(Number) },
  });
  expect((await sandbox.request('GET /v1/ping')).body.data as unknown).toBe('pong');
});

test('VER-1 VER-2 VER-OPENAPI HTTP-OPENAPI each surface describes itself', async ({ sandbox }) => {
  const document = (await (await sandbox.fetch('GET /v2/openapi.json')).json()) as {
    openapi: string;
    paths: Record<string, unknown>;
  };

  expect(document.openapi).toBe('3.1.0');
  expect(Object.keys(document.paths)).toEqual(
    expect.arrayContaining(['/v2/commands', '/v2/commands/{command_id}', '/health']),
  );
});

test('HTTP-OPENAPI what every operation may answer is told of every operation', async ({ sandbox }) => {
  for (const surface of ['/v1', '/v2']) {
    const { paths } = (await (await sandbox.fetch(`GET ${surface}/openapi.json`)).json()) as Json;
    for (const [path, operations] of Object.entries<Json>(paths)) {
      for (const [method, { responses }] of Object.entries<Json>(operations)) {
        const success = path.endsWith('/ws') ? '101' : '200';
        expect([method, path, Object.keys(responses)]).toEqual([
          method,
          path,
          expect.arrayContaining([success, '400', '403', '500']),
        ]);
      }
    }
  }
});

test(
  'HTTP-OPENAPI a status that an operation answers is one that its description has',
  async ({ sandbox }) => {
    const id = await sandbox.start({ command: 'sleep 1000', command_id: 'running' });
    const held = sandbox.lines(`/v2/commands/${id}?stream=true`);
    await held.next();
    await expectDeclared(sandbox, [
      ['POST /v2/commands', '', { command: 'true', user: 'no-such-account' }, 400],
      ['POST /v2/commands', '', '{', 400],
      ['POST /v2/commands', '', { command: 'true', session: 'absent' }, 404],
      ['POST /v2/commands', '', { command: 'true', command_id: 'running' }, 409],
      ['POST /v2/commands', '', {}, 422],
      ['GET /v2/commands', '?status=absent', undefined, 422],
      ['GET /v2/commands/{command_id}', '?stream=true', undefined, 429],
      ['GET /v2/commands/{command_id}', '?offset=-1', undefined, 422],
      ['POST /v2/commands/{command_id}/stdin', '', { offset: 1 }, 400],
      ['POST /v2/commands/{command_id}/kill', '', { signal: 'absent' }, 422],
      ['POST /v2/commands/sessions', '', { user: 'no-such-account' }, 400],
      ['DELETE /v2/commands/sessions/{session_id}', '', undefined, 404],
      ['GET /v2/sandbox/packages', '?lang=absent', undefined, 422],
    ]);
    await held.return(undefined);
  },
  { env: { SVC_MAX_STREAMS: '1' } },
);

test(
  'HTTP-OPENAPI so are those that come of a default account that does not exist',
  ({ sandbox }) =>
    expectDeclared(sandbox, [
      ['POST /v2/commands', '', { command: 'true' }, 503],
      ['POST /v2/commands/sessions', '', {}, 503],
      ['GET /v2/commands/sessions', '', undefined, 200],
      ['GET /v2/sandbox', '', undefined, 200],
      ['GET /v2/sandbox/packages', '?lang=python', undefined, 503],
      ['GET /v1/sandbox/packages/python', '', undefined, 503],
    ]),
  { env: { SVC_DEFAULT_USER: 'no-such-account' } },
);

/** Each request gets its status, and the description of its operation has it; the id in a path is `running`. */
async function expectDeclared(sandbox: Sandbox, cases: readonly [string, string, unknown, number][]): Promise<void> {
  const documents = await Promise.all(
    ['/v1', '/v2'].map(async (surface) => (await sandbox.fetch(`GET ${surface}/openapi.json`)).json() as Promise<Json>),
  );
  const paths = Object.assign({}, ...documents.map((document) => document.paths));
  for (const [operation, query, body, status] of cases) {
    const [method = '', template = ''] = operation.split(' ');
    const route = `${operation.replaceAll(/\{\w+\}/g, 'running')}${query}`;
    expect([route, body, (await sandbox.request(route, body)).status]).toEqual([route, body, status]);
    const declared = Object.keys(paths[template][method.toLowerCase()].responses);
    expect([operation, declared]).toEqual([operation, expect.arrayContaining([String(status)])]);
  }
}

test('EVT-4 whatever happens, nothing is sent to anybody who has not asked: the daemon opens no connection', async ({
  sandbox,
}) => {
  const outward = () => tcpSockets(sandbox.daemonPid).filter((port) => port !== Number(new URL(sandbox.url).port));
  const seen = new Set<number>();
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      for (const port of outward()) seen.add(port);
      await Bun.sleep(1);
    }
  })();
  const hooks = { webhook: 'http://127.0.0.1:9/hook', callback_url: 'http://127.0.0.1:9/', notify: ['127.0.0.1:9'] };
  await sandbox.ok('POST /v2/commands/sessions', { id: 's', ...hooks });
  const id = await sandbox.start({ command: 'echo here; sleep 0.2; exit 3', session: 's', ...hooks });
  await sandbox.allLines(id);
  await sandbox.run({ command: 'kill -9 $$', ...hooks });
  await sandbox.request('POST /v2/commands', { command: '' });
  await sandbox.ok('GET /v2/sandbox');
  await sandbox.ok('DELETE /v2/commands/sessions/s');
  isOver = true;
  await watching;

  expect([...seen]).toEqual([]);
});

/** The local ports of the TCP sockets of a process. */
function tcpSockets(pid: number): number[] {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).map((name) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${name}`))?.[1];
      } catch {
        return undefined; // It was closed while we looked.
      }
    }),
  );
  const rows = ['tcp', 'tcp6'].flatMap((file) => readFileSync(`/proc/${pid}/net/${file}`, 'utf8').split('\n').slice(1));
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter((columns) => columns[9] !== undefined && inodes.has(columns[9]))
    .map((columns) => Number.parseInt(columns[1]?.split(':').at(-1) ?? '', 16));
}

test('OPS-HOME the root is a page', async ({ sandbox }) => {
  const response = await sandbox.fetch('GET /');

  expect(response.headers.get('content-type')).toStartWith('text/html');
  expect(await response.text()).toContain('sandboxd');
});

test(
  'AUTH-2 with a key set, everything but the public routes is 401 without it',
  async ({ sandbox }) => {
    const document = (await (await sandbox.fetch('GET /v2/openapi.json')).json()) as { paths: Record<string, object> };
    const closed = Object.keys(document.paths).filter((path) => !publicRoutes.includes(path));
    expect(closed.length).toBeGreaterThan(0);
    for (const path of [
      ...closed,
      '/nothing',
      '/v2/nothing',
      '/metrics',
      '/mcp',
      '/openapi.json',
      '/v2/commands/..%2f..%2fhealth',
    ]) {
      const reply = await sandbox.request(`GET ${path}`);
      expect([path, reply.status, reply.headers.get('www-authenticate')]).toEqual([path, 401, 'Bearer']);
    }
    const invalid = await sandbox.request('POST /v2/commands', '{');
    expect(invalid.status).toBe(401);
  },
  withKey,
);

test(
  'AUTH-5 the public routes need no key',
  async ({ sandbox }) => {
    for (const path of publicRoutes.filter((route) => route !== '/internal/auth')) {
      expect([path, (await sandbox.fetch(`GET ${path}`)).status]).toEqual([path, 200]);
    }
  },
  withKey,
);

test(
  'AUTH-3 the key is carried in any of three ways',
  async ({ sandbox }) => {
    const run = (query: string, headers: Record<string, string>) =>
      sandbox.request(`POST /v2/commands${query}`, { command: 'true' }, headers);

    expect((await run('', { authorization: `Bearer ${key}` })).status).toBe(200);
    expect((await run('', { authorization: `bearer ${key}` })).status).toBe(200);
    expect((await run('', { 'x-api-key': key })).status).toBe(200);
    expect((await run(`?api_key=${key}`, {})).status).toBe(200);
  },
  withKey,
);

test(
  'AUTH-6 AUTH-DISAGREE ERR-401 a wrong key, or keys that disagree, are 401',
  async ({ sandbox }) => {
    const run = (query: string, headers: Record<string, string>) =>
      sandbox.request(`POST /v2/commands${query}`, { command: 'true' }, headers);
    const refused: [string, Record<string, string>][] = [
      ['', { authorization: 'Bearer wrong' }],
      ['', { authorization: `Basic ${key}` }],
      ['', { 'x-svc-api-key': key }],
      ['', { authorization: `Bearer ${key}`, 'x-api-key': 'wrong' }],
      [`?api_key=wrong`, { 'x-api-key': key }],
      [`?api_key=${key}&api_key=wrong`, {}],
      [`?ticket=${key}`, {}],
    ];
    for (const [query, headers] of refused)
      expect([query, headers, (await run(query, headers)).status]).toEqual([query, headers, 401]);
  },
  withKey,
);

test(
  'AUTH-INTERNAL the gateway is told whether a key is right',
  async ({ sandbox }) => {
    const ask = async (headers: Record<string, string>) =>
      (await sandbox.fetch('GET /internal/auth', undefined, { headers })).status;

    expect(await ask({ 'x-svc-api-key': key })).toBe(200);
    expect(await ask({ 'x-api-key': key })).toBe(200);
    expect(await ask({ 'x-svc-api-key': 'wrong' })).toBe(401);
    expect(await ask({})).toBe(401);
  },
  withKey,
);

test(
  'AUTH-1 AUTH-WINS SANDBOX_API_KEY is the same key, and SVC_API_KEY wins',
  async ({ sandbox }) => {
    expect((await sandbox.request('GET /v2/commands/x', undefined, { 'x-api-key': 'theirs' })).status).toBe(404);
    expect((await sandbox.request('GET /v2/commands/x', undefined, { 'x-api-key': 'ours' })).status).toBe(401);
  },
  { env: { SVC_API_KEY: 'theirs', SANDBOX_API_KEY: 'ours' } },
);

test(
  'HTTP-500 what no error covers is 500 with the request id, logged with its stack, which is never told',
  async ({ sandbox }) => {
    rmSync(join(sandbox.runtimeDirectory, 'commands'), { recursive: true });
    const reply = await sandbox.request('POST /v2/commands', { command: 'true' }, { 'x-request-id': 'the-bug' });

    expect(reply.status).toBe(500);
    expect(reply.body).toMatchObject({ success: false, message: 'internal error', data: { request_id: 'the-bug' } });
    expect(JSON.stringify(reply.body)).not.toContain('ENOENT');
    const [logged] = sandbox.logLines().filter((line) => line['message'] === 'a bug');
    expect(logged).toMatchObject({
      level: 'error',
      request_id: 'the-bug',
      route: '/v2/commands',
      stack: expect.stringContaining('ENOENT'),
    });
    expect((await sandbox.request('GET /health')).status).toBe(200);
  },
  { expectedWarnings: ['a bug'] },
);

test('HTTP-KEYS keys are snake_case, times are RFC 3339 in UTC', async ({ sandbox }) => {
  const document = (await (await sandbox.fetch('GET /v2/openapi.json')).json()) as object;
  const names = propertyNames(document);
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter((name) => !/^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/.test(name))).toEqual([]);

  const result = await sandbox.run({ command: 'true' });
  for (const [name, value] of Object.entries(result).filter(([key]) => key.endsWith('_at'))) {
    expect([name, value]).toEqual([name, expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)]);
  }
});

test(
  'RUN-FLAGS every setting has a variable and a flag, and the flag wins',
  async ({ sandbox }) => {
    await sandbox.start({ command: 'sleep 1000' });
    await sandbox.start({ command: 'sleep 1000' });

    expect((await sandbox.request('POST /v2/commands', { command: 'true' })).body.message).toBe(
      '2 commands are running, which is the most',
    );
  },
  { args: ['--max-commands=2'], env: { SVC_MAX_COMMANDS: '1' } },
);

/** Names of the properties of every schema in a document. */
function propertyNames(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(propertyNames);
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => [
    ...(key === 'properties' ? Object.keys(value as object) : []),
    ...propertyNames(value),
  ]);
}
