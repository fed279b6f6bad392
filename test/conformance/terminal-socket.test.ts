/** WebSockets of terminals: output arrives exactly, whichever clients connect and disconnect. */
import { createHash } from 'node:crypto';
import { exchange, statusOf } from '../harness/raw-http.ts';
import { hasKeys } from '../harness/foreground.ts';
import { expect, test, type EnvelopeBody, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { TerminalClient } from '../harness/terminal-client.ts';
import { until } from '../harness/until.ts';

/** A session whose shell has no settings of an account, which may take long. */
async function session(sandbox: Sandbox, fields: object = {}): Promise<string> {
  const body = { env: { HOME: sandbox.directory }, ...fields };
  return (await sandbox.ok('POST /v2/pty/sessions', body))['session_id'] as string;
}

test('TERM-10 EVT-3 a socket reports its session, accepts input and resizes, shows output, and reports the end', async ({
  sandbox,
}) => {
  const id = await session(sandbox, { id: 'first' });
  const client = await TerminalClient.attach(sandbox, id, 'cols=100&rows=30');
  expect(client.ready).toEqual({
    ...{ type: 'ready', session_id: id, transport: 'json', backend: 'native', resumed: false },
    ...{ offset: 0, input_offset: 0, cols: 100, rows: 30 },
  });
  expect(await sandbox.ok(`GET /v2/pty/sessions/${id}`)).toMatchObject({ attached: 1, cols: 100, rows: 30 });
  client.type('stty size; echo a""b\r');
  await client.sees('30 100');
  await client.sees('ab');
  client.send({ type: 'resize', data: { cols: 90, rows: 20 } });
  client.send('stty size; printf "\\303\\244\\360\\237\\230\\200"\r');
  await client.sees('20 90');
  await client.sees('ä😀');
  expect(client.offset).toBe(client.shownBytes);
  client.type('exit 7\r');
  expect(await client.receives('exit')).toMatchObject({ exit_code: 7, signal: null, offset: client.offset });
  expect(await client.closed).toEqual({ code: 4000, reason: 'ended' });
  expect(await sandbox.ok(`GET /v2/pty/sessions/${id}`)).toMatchObject({ attached: 0, status: 'terminated' });
});

test('TERM-10 output printed without a client is sent to the next one, from any offset', async ({ sandbox }) => {
  const id = await session(sandbox);
  const first = await TerminalClient.attach(sandbox, id);
  first.type('echo o""ne\r');
  await first.sees('one\r\n');
  await first.close();
  await sandbox.ok(`POST /v2/pty/sessions/${id}/input`, { input: 'echo t""wo', press_enter: true });
  const second = await TerminalClient.attach(sandbox, id);
  expect(second.ready).toMatchObject({ resumed: true, offset: first.offset });
  await second.sees('two\r\n');
  expect(second.text).not.toContain('one');
  const both = first.text + second.text;
  const bytes = Buffer.from(both);
  for (const offset of [0, 1, first.offset - 1, first.offset + 3]) {
    const third = await TerminalClient.attach(sandbox, id, `offset=${offset}&protocol=binary`);
    await until('all is shown', () => third.offset >= second.offset);
    expect(third.bytes.subarray(0, bytes.length - offset)).toEqual(bytes.subarray(offset));
    await third.close();
  }
  const fresh = await TerminalClient.attach(sandbox, id, 'durable=false');
  expect(fresh.ready).toMatchObject({ resumed: true, offset: second.offset });
  await Promise.all([second.close(), fresh.close()]);
});

test('TERM-11 a socket’s own shell lives as long as its socket', async ({ sandbox }) => {
  const client = await TerminalClient.open(
    sandbox,
    `/v2/pty/ws?cwd=/&cols=70&rows=10&env=${encodeURIComponent('{"HOME":"/","A":"b c"}')}`,
  );
  client.type('pwd; echo "<$A>"; stty size; sleep 1000 & echo pid $!\r');
  await client.sees('10 70');
  expect(client.text).toContain('<b c>');
  await until('the pid is printed', () => /pid \d+/.test(client.text));
  expect(client.text).toContain('/\r\n');
  await client.close();
  await until('no session is left', async () => {
    const { sessions } = await sandbox.ok('GET /v2/pty/sessions');
    return Object.keys(sessions as object).length === 0;
  });
  const sleeps = () => sandbox.processes().filter(({ command }) => command.startsWith('sleep'));
  await until('all that it has started is ended', () => sleeps().length === 0);
});

/** A request for a WebSocket, as bytes. */
function handshake(sandbox: Sandbox, path: string, lines: readonly string[] = []): string {
  return [
    `GET ${path} HTTP/1.1`,
    `Host: ${new URL(sandbox.url).host}`,
    ...['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
    ...['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', ...lines, '', ''],
  ].join('\r\n');
}

/** The answer to a WebSocket request that is refused. */
async function refusal(sandbox: Sandbox, path: string, lines: readonly string[] = []) {
  const answer = await exchange(sandbox.url, handshake(sandbox, path, lines), 500);
  return { status: statusOf(answer), body: JSON.parse(answer.split('\r\n\r\n')[1] ?? 'null') as EnvelopeBody };
}

test(
  'TERM-10 errors are answered before the upgrade to a socket',
  async ({ sandbox }) => {
    const key = { 'x-api-key': 'secret' };
    const { session_id: id } = await sandbox.ok('POST /v2/pty/sessions', { env: { HOME: sandbox.directory } }, key);
    const path = `/v2/pty/sessions/${id}/ws`;
    expect((await refusal(sandbox, '/v2/pty/sessions/nobody/ws')).status).toBe(401);
    expect((await refusal(sandbox, '/v2/pty/ws')).status).toBe(401);
    const asked = (query: string) => refusal(sandbox, query, ['x-api-key: secret']);
    expect((await asked('/v2/pty/sessions/nobody/ws')).status).toBe(404);
    for (const query of ['protocol=xml', 'cols=0', 'rows=10000', 'offset=-1', 'mode=w', 'replay_bytes=x', 'durable=2'])
      expect([query, (await asked(`${path}?${query}`)).status]).toEqual([query, 422]);
    for (const env of ['x', '[]', '3', '{"A":1}', '{"A=":"b"}'])
      expect([env, (await asked(`/v2/pty/ws?env=${encodeURIComponent(env)}`)).status]).toEqual([env, 422]);
    expect((await asked('/v2/pty/ws?cwd=/nowhere')).status).toBe(400);
    expect((await asked('/v2/pty/ws?user=nobody-at-all')).status).toBe(400);
    for (const plain of [path, '/v2/pty/ws']) {
      const reply = await sandbox.request(`GET ${plain}`, undefined, key);
      expect(reply).toMatchObject({ status: 426, body: { hint: expect.stringContaining('WebSocket') } });
      expect(reply.headers.get('upgrade')).toBe('websocket');
      const old = ['upgrade: websocket', 'connection: upgrade', 'sec-websocket-version: 8', 'x-api-key: secret'];
      const answer = await exchange(
        sandbox.url,
        `GET ${plain} HTTP/1.1\r\nhost: localhost\r\nsec-websocket-key: ${'a'.repeat(22)}==\r\n${old.join('\r\n')}\r\n\r\n`,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 426 [^]*sec-websocket-version: 13[^]*"code":"upgrade_required"/i);
      expect((await sandbox.fetch(`HEAD ${plain}`, undefined, { headers: key })).status).toBe(426);
    }
    const { sessions } = await sandbox.ok('GET /v2/pty/sessions', undefined, key);
    expect(Object.keys(sessions as object)).toEqual([id]);
  },
  { args: ['--api-key', 'secret'] },
);

test(
  'TERM-10 AUTH-8 AUTH-WS the key is accepted in a header, the query or a subprotocol',
  async ({ sandbox }) => {
    const { session_id: id } = await sandbox.ok(
      'POST /v2/pty/sessions',
      { env: { HOME: sandbox.directory } },
      { 'x-api-key': 'secret' },
    );
    const encoded = `svc.key.${Buffer.from('secret').toString('base64url')}`;
    const clients = await Promise.all([
      TerminalClient.attach(sandbox, id, '', { headers: { authorization: 'Bearer secret' } }),
      TerminalClient.attach(sandbox, id, 'api_key=secret'),
      TerminalClient.attach(sandbox, id, '', { protocols: ['svc.v2', encoded] }),
    ]);
    expect(clients.map(({ protocol }) => protocol)).toEqual(['', '', 'svc.v2']);
    clients[2]?.type('echo to a""ll\r');
    for (const client of clients) await client.sees('to all');
    await Promise.all(clients.map((client) => client.close()));
  },
  { args: ['--api-key', 'secret'] },
);

test('TERM-10 text that is not a message is typed, and an invalid message is answered with an error', async ({
  sandbox,
}) => {
  const id = await session(sandbox);
  const client = await TerminalClient.attach(sandbox, id);
  for (const text of ['ec', 'ho ', '1', '{', '}', ' [3]', ' "x"', ' nu', 'll\r']) client.send(text);
  await client.sees('1{} [3] x null\r\n');
  client.send(Buffer.from('echo by""tes\r'));
  await client.sees('bytes');
  const wrong: [object, string, string][] = [
    [{ type: 'unknown' }, 'unknown', 'malformed_request'],
    [{}, 'type', 'malformed_request'],
    [{ type: 'constructor' }, 'constructor', 'malformed_request'],
    [{ type: 'input' }, 'data', 'malformed_request'],
    [{ type: 'input', data: 5 }, 'data', 'malformed_request'],
    [{ type: 'resize', cols: 0, rows: 24 }, 'cols', 'malformed_request'],
    [{ type: 'resize', data: { cols: 10_000 } }, 'cols', 'malformed_request'],
    [{ type: 'signal', signal: 'SIGNOTHING' }, 'signal', 'malformed_request'],
    [{ type: 'ack', offset: -1 }, 'offset', 'malformed_request'],
  ];
  for (const [n, [message, what, code]] of wrong.entries()) {
    client.send(message);
    const error = await client.receives('error', n + 1);
    expect(error).toMatchObject({ code, data: expect.stringContaining(what), hint: expect.any(String) });
  }
  client.send({ type: 'ping', timestamp: 17 });
  expect(await client.receives('pong')).toEqual({ type: 'pong', timestamp: 17, data: { timestamp: 17 } });
  client.send({ type: 'pong' });
  client.type('sleep 100\r');
  await until('it runs', () => hasKeys(sandbox, 'sleep 100'));
  client.send({ type: 'signal', signal: 'SIGINT' });
  await until('it was ended', async () => (await sandbox.ok(`GET /v2/pty/sessions/${id}`))['status'] === 'ready');
  expect(client.of('error')).toHaveLength(wrong.length);
  await client.close();
});

test('TERM-10 a large input arrives whole, and a frame beyond the limit ends only its own socket', async ({
  sandbox,
}) => {
  const id = await session(sandbox);
  const [client, other] = await Promise.all([
    TerminalClient.attach(sandbox, id),
    TerminalClient.attach(sandbox, id, 'mode=ro'),
  ]);
  const typed = 'x'.repeat(1_000_000);
  client.type(`stty raw -echo; echo rea""dy; head -c ${typed.length} | sha256sum; stty sane\r`);
  await client.sees('ready');
  client.type(typed);
  await client.sees(createHash('sha256').update(typed).digest('hex'));
  client.send('y'.repeat(17 * 1024 * 1024));
  expect((await client.closed).code).not.toBe(1000);
  await sandbox.ok(`POST /v2/pty/sessions/${id}/input`, { input: 'echo as be""fore', press_enter: true });
  await other.sees('as before');
  await other.close();
});

test('TERM-10 the size of a terminal is that of the client that typed last, and returns when that client leaves', async ({
  sandbox,
}) => {
  const id = await session(sandbox);
  const hasSize = (cols: number, rows: number) =>
    until(`the size is ${cols} x ${rows}`, async () => {
      const record = await sandbox.ok(`GET /v2/pty/sessions/${id}`);
      return record['cols'] === cols && record['rows'] === rows;
    });
  const wide = await TerminalClient.attach(sandbox, id, 'cols=120&rows=40');
  wide.type('echo wi""de\r');
  await wide.sees('wide\r\n');
  const small = await TerminalClient.attach(sandbox, id, 'cols=60&rows=20');
  expect(small.ready).toMatchObject({ cols: 120, rows: 40 });
  small.send({ type: 'resize', cols: 61, rows: 21 });
  expect(await small.receives('resize')).toEqual({ type: 'resize', cols: 120, rows: 40 }); // Not the size asked for.
  small.type('\u001b[?62;4c'); // The reply of a terminal to a program.
  small.send({ type: 'ping', timestamp: 1 });
  await small.receives('pong');
  expect(await sandbox.ok(`GET /v2/pty/sessions/${id}`)).toMatchObject({ cols: 120, rows: 40 });
  small.type('\u0015');
  await hasSize(61, 21);
  expect(await wide.receives('resize')).toMatchObject({ cols: 61, rows: 21 });
  wide.send({ type: 'resize', cols: 121, rows: 41 });
  await small.close();
  await hasSize(121, 41);
  await wide.close();
});

test('TERM-10 a read-only socket gets an error for each write, and changes nothing', async ({ sandbox }) => {
  const id = await session(sandbox);
  const client = await TerminalClient.attach(sandbox, id, 'mode=ro&cols=10&rows=5');
  expect(client.ready).toMatchObject({ cols: 80, rows: 24 });
  const messages = ['text', Buffer.from('bytes'), { type: 'input', data: 'x' }, { type: 'resize', cols: 9, rows: 9 }];
  for (const message of [...messages, { type: 'signal', signal: 'SIGKILL' }]) client.send(message);
  await client.receives('error', 5);
  expect(new Set(client.of('error').map(({ code }) => code as string))).toEqual(new Set(['forbidden']));
  await sandbox.ok(`POST /v2/pty/sessions/${id}/input`, { input: 'stty size', press_enter: true });
  await client.sees('24 80');
  await sandbox.ok(`PATCH /v2/pty/sessions/${id}`, { cols: 33, rows: 22 });
  expect(await client.receives('resize')).toEqual({ type: 'resize', cols: 33, rows: 22 });
  await client.close();
});

test('TERM-10 characters arrive whole, invalid bytes are replaced, and titles are reported', async ({ sandbox }) => {
  const id = await session(sandbox);
  const client = await TerminalClient.attach(sandbox, id);
  const raw = await TerminalClient.attach(sandbox, id, 'protocol=binary');
  client.type(
    String.raw`printf '<\360\237'; sleep 0.3; printf '\230\200|\377|\303|\360\200>\033]2;a t\303\244tle\007'` + '\r',
  );
  await client.sees('<😀|\uFFFD|\uFFFD|\uFFFD\uFFFD>');
  expect(await client.receives('title')).toEqual({ type: 'title', title: 'a tätle', data: 'a tätle' });
  await until('the bytes are there', () =>
    raw.bytes.includes(Buffer.from('<f09f9880 7cff7cc37cf080 3e'.replaceAll(/[< ]/g, ''), 'hex')),
  );
  await raw.receives('title');
  expect((await sandbox.ok(`GET /v2/pty/sessions/${id}`))['title']).toBe('a tätle');
  await Promise.all([client.close(), raw.close()]);
});

test('TERM-10 a restored screen arrives first, then live output, and no byte is missing between', async ({
  sandbox,
}) => {
  const id = await session(sandbox, { cols: 60, rows: 10 });
  const first = await TerminalClient.attach(sandbox, id);
  first.type(String.raw`for n in $(seq 100); do echo line $n; done; printf 'a \033[1mbo''ld\033[m'` + '\r');
  await first.sees('\x1b[1mbold\x1b[m');
  const second = await TerminalClient.attach(sandbox, id, 'restore=true');
  const restored = await second.receives('restore_output');
  expect(restored['data']).toContain('line 1\r\n');
  expect(restored['data']).toContain('line 100\r\n');
  expect(restored['data']).toMatch(/\u001b\[[\d;]*1mbold/);
  expect(second.messages.map(({ type }) => type as string)).toEqual([
    'ready',
    ...(second.of('title').length > 0 ? ['title'] : []),
    'restore_output',
    'relay_resumed',
  ]);
  expect(second.ready).toMatchObject({ resumed: true, offset: restored['offset'] });
  first.type('echo fol""lows\r');
  await second.sees('follows\r\n');
  expect(first.bytes.subarray(restored['offset'] as number).subarray(0, second.shownBytes)).toEqual(second.bytes);
  const third = await TerminalClient.attach(sandbox, id, 'restore=true&offset=5');
  expect(third.ready?.['offset']).toBe(5);
  expect(third.of('restore_output')).toEqual([]);
  await Promise.all([first, second, third].map((client) => client.close()));
});

test('TERM-10 the end of a closed or killed session is sent to all clients, also to later ones', async ({
  sandbox,
}) => {
  const id = await session(sandbox, { id: 'killed' });
  const client = await TerminalClient.attach(sandbox, id);
  client.type('kill -KILL $$\r');
  expect(await client.receives('exit')).toMatchObject({ exit_code: null, signal: 'SIGKILL' });
  expect((await client.closed).code).toBe(4000);
  const late = await TerminalClient.attach(sandbox, id, 'offset=0');
  expect(await late.receives('exit')).toMatchObject({ signal: 'SIGKILL', offset: client.offset });
  expect(late.text).toBe(client.text);
  expect((await late.closed).code).toBe(4000);

  const other = await session(sandbox);
  const [writer, viewer] = await Promise.all([
    TerminalClient.attach(sandbox, other),
    TerminalClient.attach(sandbox, other, 'mode=ro&protocol=binary'),
  ]);
  await sandbox.ok(`DELETE /v2/pty/sessions/${other}`);
  await Promise.all([writer, viewer].map((one) => one.receives('exit')));
  expect(await Promise.all([writer.closed, viewer.closed])).toMatchObject([{ code: 4000 }, { code: 4000 }]);
  expect((await refusal(sandbox, `/v2/pty/sessions/${other}/ws`)).status).toBe(404);
});

test(
  'TERM-11 TERM-12 a shell or a socket above the limit is refused before the upgrade',
  async ({ sandbox }) => {
    const shell = await TerminalClient.open(sandbox, '/v2/pty/ws');
    expect(await refusal(sandbox, '/v2/pty/ws')).toMatchObject({
      status: 429,
      body: { hint: expect.stringContaining('SVC_SHELL_MAX_SESSIONS') },
    });
    const id = shell.ready?.['session_id'] as string;
    const second = await TerminalClient.attach(sandbox, id);
    expect((await refusal(sandbox, `/v2/pty/sessions/${id}/ws`)).status).toBe(429);
    await second.close();
    const third = await TerminalClient.attach(sandbox, id);
    await Promise.all([third.close(), shell.close()]);
    await until('there is room again', async () => {
      const reply = await sandbox.request('POST /v2/pty/sessions', {});
      return reply.status === 200;
    });
  },
  { env: { SVC_SHELL_MAX_SESSIONS: '1', SVC_MAX_STREAMS: '2' } },
);

test('TERM-15 replay_bytes below or above its bounds counts as the nearest bound', async ({ sandbox }) => {
  const id = await session(sandbox);
  const client = await TerminalClient.attach(sandbox, id);
  client.type(`seq 1900; echo la""st\r`);
  await client.sees('last\r\n');
  await client.close();
  for (const bytes of ['-1', '0', '1', '1000000000000']) {
    const other = await TerminalClient.attach(sandbox, id, `restore=true&replay_bytes=${bytes}`);
    const { data } = await other.receives('restore_output');
    expect([bytes, (data as string).includes('\r\n1500\r\n')]).toEqual([bytes, true]);
    await other.close();
  }
});

test('TERM-10 a daemon that stops reports the offset at which to resume', async ({ sandbox }) => {
  const id = await session(sandbox);
  const client = await TerminalClient.attach(sandbox, id);
  client.type('echo la""st\r');
  await client.sees('last\r\n');
  expect(await sandbox.stop()).toBe(0);
  const { code, reason } = await client.closed;
  expect([code, reason]).toEqual([1001, `the daemon is going: go on with offset=${client.offset}`]);
});

test('TERM-10 TERM-11 an upgrade moves every client to the next daemon, where each resumes at its exact offset', async ({
  sandbox,
}) => {
  const id = await session(sandbox);
  const [client, shell] = await Promise.all([
    TerminalClient.attach(sandbox, id),
    TerminalClient.open(sandbox, '/v2/pty/ws'),
  ]);
  client.type('for n in $(seq 200); do echo tick $n; sleep 0.02; done\r');
  await client.sees('tick 10\r\n');
  const upgraded = await sandbox.upgrade();
  expect(upgraded).toMatchObject({ code: 0 });
  await sandbox.served();
  const { code, reason } = await client.closed;
  expect([code, reason]).toEqual([1001, `the daemon is going: go on with offset=${client.offset}`]);
  const next = await TerminalClient.attach(sandbox, id, `offset=${client.offset}`);
  await next.sees('tick 200\r\n');
  const ticks = [...(client.text + next.text).matchAll(/tick (\d+)\r\n/g)].map(([, n]) => Number(n));
  expect(ticks).toEqual(Array.from({ length: 200 }, (_, n) => n + 1));
  expect((await shell.closed).code).toBe(1001);
  const { sessions } = await sandbox.ok('GET /v2/pty/sessions');
  expect(Object.keys(sessions as object)).toEqual([id]);
  await next.close();
});

test(
  'TERM-10 output that is no longer kept is announced',
  async ({ sandbox }) => {
    const id = await session(sandbox);
    await sandbox.ok(`POST /v2/pty/sessions/${id}/input`, { input: 'seq 300000; echo do""ne', press_enter: true });
    await until('old output is dropped', async () => {
      const late = await TerminalClient.attach(sandbox, id, 'durable=false&mode=ro');
      await late.close();
      return (late.ready?.['offset'] as number) > 2_288_895; // What seq prints, with its line ends.
    });
    for (const protocol of ['json', 'binary']) {
      const client = await TerminalClient.attach(sandbox, id, `offset=7&protocol=${protocol}`);
      await client.sees('done\r\n');
      const { from, to } = await client.receives('gap');
      expect(from).toBe(7);
      expect(client.offset).toBe(to + client.shownBytes);
      await client.close();
    }
  },
  { env: { SVC_STREAM_KEPT_MIB: '1' } },
);

test('TERM-10 a silent client is pinged', async ({ sandbox }) => {
  const client = await TerminalClient.attach(sandbox, await session(sandbox));
  await until('a ping', () => client.of('ping').length > 0, 40_000);
  const { timestamp, data } = client.of('ping')[0] as JsonObject;
  expect(timestamp).toBeGreaterThan(0);
  expect(data).toEqual({ timestamp });
  client.send({ type: 'pong' });
  await client.close();
});
