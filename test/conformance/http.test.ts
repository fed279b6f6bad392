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
    data: { code: 'command_not_found', retryable: false },
    hint: expect.any(String),
  });
  expect(good.headers.get('cache-control')).toBe('no-store');
});

test('HTTP-NOSTORE no answer may be cached', async ({ sandbox }) => {
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

test('ERR-405 a wrong method is answered with the right ones', async ({ sandbox }) => {
  const reply = await sandbox.request('PUT /v2/commands/absent', {});

  expect(reply.status).toBe(405);
  expect(reply.headers.get('allow')).toBe('DELETE, GET, HEAD');
  expect(reply.body.success).toBe(false);
});

test('HTTP-SLASH a path with an extra slash is 404, with the path that is served', async ({ sandbox }) => {
  for (const [route, path] of [
    ['GET /v2/commands/', '/v2/commands'],
    ['POST /v2//fs/write', '/v2/fs/write'],
    ['GET /v1/ping//', '/v1/ping'],
  ] as const) {
    expect(await sandbox.request(route, route.startsWith('POST') ? {} : undefined)).toMatchObject({
      status: 404,
      body: { hint: `Did you mean ${path}, without the extra slash?` },
    });
  }
  expect((await sandbox.request('GET /v2/nothing/')).body.hint).toBe('GET /v2 lists every route.');
});

test('HTTP-HEAD a HEAD creates nothing: a GET that would create something refuses it', async ({ sandbox }) => {
  const head = await sandbox.fetch('HEAD /v1/shell/terminal-url');
  expect([head.status, head.headers.get('allow')]).toEqual([405, 'GET']);
  expect((await sandbox.ok('GET /v2/pty/sessions'))['sessions']).toEqual({});
});

test('ERR-400 a body that is not a JSON object is 400', async ({ sandbox }) => {
  for (const body of ['{', '[]', '7', 'null', '"x"', '{"command": "a" "b"}']) {
    const reply = await sandbox.request('POST /v2/commands', body);
    expect([body, reply.status]).toEqual([body, 400]);
    expect(reply.body.hint).toBe('Send one JSON object in UTF-8.');
  }
  const invalid = await sandbox.fetch('POST /v2/commands', undefined, { body: Buffer.from([0x7b, 0xff, 0x7d]) });
  expect(invalid.status).toBe(400);
});

test('ERR-422 HTTP-422 HTTP-TYPES HTTP-IDS each invalid field is named, with its kind of error', async ({
  sandbox,
}) => {
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

test('V2-1 an unknown name is refused on v2, also one that every object has, and ignored on v1', async ({
  sandbox,
}) => {
  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    const listed = await sandbox.request(`GET /v2/commands?${name}=1`);
    expect([name, listed.status, listed.body.errors?.[0]]).toMatchObject([
      name,
      422,
      { location: `query.${name}`, type: 'unknown_field' },
    ]);
    const body = `{"command": "", "${name}": {"command": "true"}, "env": {"constructor": 7}}`;
    const run = await sandbox.request('POST /v2/commands', body);
    expect([name, run.status, run.body.errors?.map(({ location, type }) => `${location} ${type}`)]).toEqual([
      name,
      422,
      [`body.${name} unknown_field`, 'body.command too_short', 'body.env.constructor string_type'],
    ]);
  }
  expect((await sandbox.request('GET /v2/commands?_=1732700000')).status).toBe(200);
  expect((await sandbox.request('GET /v2/commands?api_key=any')).status).toBe(200);
  expect((await sandbox.request('POST /v1/bash/exec', { command: 'true', colour: 'blue' })).body.success).toBe(true);
});

test('HTTP-BADARG V2CMD-ARGS V2CMD-FREED an error that no schema can detect is 400, with the next step', async ({
  sandbox,
}) => {
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

test('ERR-503 a shell that is not installed is 503, with the next step', async ({ sandbox }) => {
  const reply = await sandbox.request('POST /v2/commands', { command: 'a', shell: 'powershell' });

  expect(reply).toMatchObject({
    status: 503,
    body: { message: 'no powershell on PATH', hint: expect.stringContaining('Install') },
  });
});

test('HTTP-ID the request id is echoed, taken from a trace, or generated', async ({ sandbox }) => {
  const given = await sandbox.request('GET /health', undefined, { 'x-request-id': 'abc-1' });
  expect(given.headers.get('x-request-id')).toBe('abc-1');
  const traced = await sandbox.request('GET /health', undefined, {
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  });
  expect(traced.headers.get('x-request-id')).toBe('0af7651916cd43dd8448eb211c80319c');
  const minted = await sandbox.request('GET /health', undefined, { 'x-request-id': 'a b\n' });
  expect(minted.headers.get('x-request-id')).toMatch(/^req_/);
});

test('OPS-HEALTH health answers both kinds of probe', async ({ sandbox }) => {
  const { status, body } = await sandbox.request('GET /health');

  expect(status).toBe(200);
  expect(body).toMatchObject({
    success: true,
    status: 'healthy',
    data: { status: 'healthy', uptime_s: expect.any(Number) },
  });
});

test('V1OPS-PONG a ping is answered with pong, as message and as data', async ({ sandbox }) => {
  expect((await sandbox.request('GET /v1/ping')).body as unknown).toEqual({
    ...{ success: true, message: 'pong', data: 'pong', hint: null },
  });
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

function pick(from: Json, like: Json): Json {
  return Object.fromEntries(Object.keys(like).map((name) => [name, from[name]]));
}

test(
  'VER-ALL GET /openapi.json describes both surfaces, to a client that has the key',
  async ({ sandbox }) => {
    const read = async (path: string, headers = {}) =>
      (await sandbox.fetch(`GET ${path}`, undefined, { headers })).json();
    expect((await sandbox.request('GET /openapi.json')).status).toBe(401);

    const all = (await read('/openapi.json', { 'x-api-key': key })) as Json;
    for (const surface of ['/v1', '/v2']) {
      const { paths, components } = (await read(`${surface}/openapi.json`)) as Json;
      const found = { paths: pick(all.paths, paths), schemas: pick(all.components.schemas, components.schemas) };
      expect(Bun.deepEquals(found, { paths, schemas: components.schemas })).toBe(true);
    }
    expect(all.openapi).toBe('3.1.0');
  },
  withKey,
);

test(
  'VER-ALL without the v1 surface, the description has no v1 routes',
  async ({ sandbox }) => {
    const { paths } = (await (await sandbox.fetch('GET /openapi.json')).json()) as Json;
    const ofV1 = Object.keys(paths).filter((path) => path.startsWith('/v1/'));
    expect(ofV1.toSorted()).toEqual(['/v1/capabilities', '/v1/openapi.json', '/v1/ping']);
  },
  { env: { SVC_API_SURFACE: 'v2' } },
);

test('HTTP-OPENAPI the description of every operation has the statuses common to all', async ({ sandbox }) => {
  for (const surface of ['/v1', '/v2']) {
    const { paths } = (await (await sandbox.fetch(`GET ${surface}/openapi.json`)).json()) as Json;
    for (const [path, operations] of Object.entries<Json>(paths)) {
      for (const [method, { responses }] of Object.entries<Json>(operations)) {
        const success = /\/(?:ws|live)$/.test(path) ? '101' : '200';
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
  'HTTP-OPENAPI every status that an operation returns is in its description',
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
  'HTTP-OPENAPI the statuses of an unknown default account are in the description',
  ({ sandbox }) =>
    expectDeclared(sandbox, [
      ['POST /v2/commands', '', { command: 'true' }, 503],
      ['POST /v2/commands/sessions', '', {}, 503],
      ['GET /v2/commands/sessions', '', undefined, 200],
      ['GET /v2/sandbox', '', undefined, 200],
      ['GET /v2/sandbox/packages', '?lang=python', undefined, 503],
      ['GET /v1/sandbox/packages/python', '', undefined, 503],
    ]),
  { env: { SVC_DEFAULT_USER: 'no-such-account' }, expectedWarnings: ['commands without a user cannot run'] },
);

/** Each request gets its status, which the description of its operation contains; the id in a path is `running`. */
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

test('EVT-4 the daemon never opens an outgoing connection', async ({ sandbox }) => {
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
  await sandbox.ok('POST /v2/commands/sessions', { id: 's' });
  const id = await sandbox.start({ command: 'echo here; sleep 0.2; exit 3', session: 's' });
  await sandbox.allLines(id);
  await sandbox.run({ command: 'kill -9 $$' });
  await sandbox.request('POST /v2/commands', { command: 'true', ...hooks });
  await sandbox.request('POST /v1/bash/exec', { command: 'true', ...hooks });
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
        return undefined; // The descriptor was closed during the read.
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
  expect(await response.text()).toContain('boxkeep');
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
  'AUTH-3 the key is accepted in any of three forms',
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
  'AUTH-INTERNAL the gateway learns whether a key is right',
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
  'HTTP-500 an unexpected error is 500 with the request id, and its stack appears only in the log',
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

/** A cookie has the names of the DevTools protocol too, so that one that was read can be set. */
const cookieFields = [
  ...['httpOnly', 'sameSite', 'sourceScheme', 'sourcePort', 'partitionKey'],
  ...['topLevelSite', 'hasCrossSiteAncestor'],
];

test('HTTP-KEYS keys are snake_case, times are RFC 3339 in UTC', async ({ sandbox }) => {
  const document = (await (await sandbox.fetch('GET /v2/openapi.json')).json()) as object;
  const names = propertyNames(document);
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter((name) => !/^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/.test(name))).toEqual(cookieFields);

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
      '2 commands are running, which is the limit',
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
