/** Meaningless input is refused with a reason, and affects neither a terminal session nor its clients. */
import { exchange, statusOf } from '../harness/raw-http.ts';
import { expect, test, type EnvelopeBody, type Sandbox } from '../harness/sandbox.ts';
import { TerminalClient } from '../harness/terminal-client.ts';
import { BareSocket, frameOf, opcodes } from '../harness/terminal-fuzz-socket.ts';
import { until } from '../harness/until.ts';

/** A session with an attached client, which must stay unaffected. */
async function watched(sandbox: Sandbox): Promise<TerminalClient> {
  await sandbox.ok('POST /v2/pty/sessions', { id: 'main', env: { HOME: sandbox.directory } });
  return await TerminalClient.attach(sandbox, 'main');
}

/** The client received no error, and the session is unchanged. */
async function unharmed(sandbox: Sandbox, client: TerminalClient): Promise<void> {
  client.type('stty size; echo un""harmed\r');
  await client.sees('unharmed\r\n');
  expect(client.text).toContain('24 80\r\n');
  expect(client.messages.filter(({ type }) => !['ready', 'title', 'ping'].includes(type as string))).toEqual([]);
  await client.close();
  expect((await sandbox.ok('GET /v2/pty/sessions/main'))['pid']).toBeNumber();
}

const main = '/v2/pty/sessions/main';
const requests: readonly (readonly [route: string, body: unknown, status: number, what: string])[] = [
  ...([0, -1, 10_000, 1.5, '80', []] as const).flatMap((size) => [
    ['POST /v2/pty/sessions', { cols: size }, 422, 'body.cols'] as const,
    [`PATCH ${main}`, { rows: size }, 422, 'body.rows'] as const,
  ]),
  ['POST /v2/pty/sessions', { id: '../up' }, 422, 'body.id'],
  ['POST /v2/pty/sessions', { id: 'x'.repeat(1000) }, 422, 'body.id'],
  ['POST /v2/pty/sessions', { user: 'nobody-here' }, 400, 'nobody-here'],
  ['POST /v2/pty/sessions', { cwd: '/etc/passwd' }, 400, 'not a directory'],
  ['POST /v2/pty/sessions', { cwd: 'a\0b' }, 422, 'body.cwd'],
  ['POST /v2/pty/sessions', { env: { 'A=B': 'x' } }, 422, 'body.env'],
  ...['', 'x'.repeat(101), 'two\nlines', 'two\u2028lines', '\u001b[2J', '\ud800', 7].flatMap((name) => [
    ['POST /v2/pty/sessions', { name }, 422, 'body.name'] as const,
    [`PATCH ${main}`, { name }, 422, 'body.name'] as const,
  ]),
  ['POST /v2/pty/sessions', { retention: 'for ever' }, 422, 'body.retention'],
  ['POST /v2/pty/sessions', 'no JSON', 400, 'not JSON'],
  [`POST ${main}/signal`, { signal: 'INT' }, 422, 'SIGINT'],
  [`POST ${main}/signal`, { signal: 9 }, 422, 'SIGKILL'],
  [`POST ${main}/input`, {}, 422, 'body.input'],
  [`POST ${main}/input`, { input: 7 }, 422, 'body.input'],
  [`POST ${main}/exec`, { command: '' }, 422, 'body.command'],
  [`POST ${main}/exec`, { command: 'true', timeout: -1 }, 422, 'body.timeout'],
  [`PATCH ${main}`, { no_change_timeout: -1 }, 422, 'body.no_change_timeout'],
  [`GET ${main}/screen?wait_for=(`, undefined, 400, 'wait_for'],
  [`GET ${main}/screen?timeout=-1`, undefined, 422, 'query.timeout'],
  ...['GET ', 'DELETE ', 'PATCH '].map(
    (method) => [`${method}/v2/pty/sessions/nobody`, method === 'PATCH ' ? {} : undefined, 404, 'nobody'] as const,
  ),
  ['POST /v2/pty/sessions/nobody/input', { input: 'x' }, 404, 'nobody'],
  ['POST /v2/pty/sessions/nobody/signal', {}, 404, 'nobody'],
  ['POST /v2/pty/sessions/nobody/exec', { command: 'x' }, 404, 'nobody'],
  ['GET /v2/pty/sessions/nobody/screen', undefined, 404, 'nobody'],
  ['GET /v2/pty/sessions/nobody/recording', undefined, 404, 'nobody'],
];

test('TERM-1 TERM-4 TERM-7 TERM-8 meaningless requests are refused with a reason and a hint', async ({ sandbox }) => {
  const client = await watched(sandbox);
  for (const [route, body, status, what] of requests) {
    const reply = await sandbox.request(route, body);
    const answer = [route, JSON.stringify(body), reply.status, reply.body.message, reply.body.hint];
    expect(answer).toEqual([route, JSON.stringify(body), status, expect.stringContaining(what), expect.any(String)]);
  }
  await unharmed(sandbox, client);
});

/** A request for a WebSocket with this query. */
async function refusal(sandbox: Sandbox, path: string): Promise<{ status: number; body: EnvelopeBody }> {
  const lines = [`GET ${path} HTTP/1.1`, `Host: ${new URL(sandbox.url).host}`, 'Connection: Upgrade'];
  lines.push('Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', '', '');
  const answer = await exchange(sandbox.url, lines.join('\r\n'), 300);
  return { status: statusOf(answer), body: JSON.parse(answer.split('\r\n\r\n')[1] ?? 'null') as EnvelopeBody };
}

test('TERM-10 a meaningless socket request is refused before the upgrade, with the field and a hint', async ({
  sandbox,
}) => {
  const client = await watched(sandbox);
  const queries = ['cols=0', 'cols=-1', 'rows=10000', 'durable=yes', 'durable=', 'restore=1.5', 'replay_bytes=x'];
  for (const query of [...queries, 'offset=-1', 'offset=1e99', 'mode=x', 'protocol=xml']) {
    const { status, body } = await refusal(sandbox, `${main}/ws?${query}`);
    const field = `query.${query.split('=')[0]}`;
    expect([query, status, body.message, body.hint]).toEqual([
      query,
      422,
      expect.stringContaining(field),
      expect.any(String),
    ]);
  }
  const unknown = await refusal(sandbox, '/v2/pty/sessions/nobody/ws?durable=true');
  expect(unknown).toMatchObject({ status: 404, body: { hint: expect.stringContaining('POST /v2/pty/sessions') } });
  expect((await refusal(sandbox, '/v2/pty/sessions//ws?durable=true')).status).toBe(404);
  await unharmed(sandbox, client);
});

test('TERM-11 durable without a session is still a shell that lives as long as its socket', async ({ sandbox }) => {
  const client = await TerminalClient.open(sandbox, '/v2/pty/ws?durable=true&restore=true&env={"HOME":"/"}');
  expect(client.ready).toMatchObject({ resumed: false, offset: 0 });
  client.type('echo h""ere\r');
  await client.sees('here\r\n');
  await client.drop();
  await until('no session is left', async () => {
    const { sessions } = await sandbox.ok('GET /v2/pty/sessions');
    return Object.keys(sessions as object).length === 0;
  });
});

const head = (first: number, length: number) => Buffer.from([first, 0x80 | length, 0, 0, 0, 0]);
const three = Buffer.from('abc');
/** Invalid frames, with the WebSocket close code for each. */
const brokenFrames: Readonly<Record<string, readonly [bytes: Uint8Array, code: number]>> = {
  'text that is not UTF-8': [frameOf(opcodes.text, Buffer.from([0x61, 0xff])), 1007],
  'an unknown kind': [Buffer.concat([head(0x83, 3), three]), 1002],
  'reserved bits': [Buffer.concat([head(0xf1, 3), three]), 1002],
  'no mask': [Buffer.from([0x81, 0x03, ...three]), 1002],
  'the rest of nothing': [Buffer.concat([head(0x80, 3), three]), 1002],
  'a ping in pieces': [Buffer.concat([head(0x09, 3), three]), 1002],
  'a length beyond everything': [Buffer.from([0x82, 0xff, ...Buffer.alloc(8, 0x7f), 0, 0, 0, 0]), 1009],
  'a length beyond the limit': [Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0x01, 0x10, 0x00, 0x00, 0, 0, 0, 0]), 1009],
};

test('TERM-10 an invalid frame ends only its own socket, with the reason, and types nothing', async ({ sandbox }) => {
  const client = await watched(sandbox);
  const typed = async () => {
    const another = await TerminalClient.attach(sandbox, 'main', 'mode=ro');
    await another.close();
    return another.ready?.['input_offset'] as number;
  };
  const before = await typed();
  for (const [what, [bytes, code]] of Object.entries(brokenFrames)) {
    const socket = await BareSocket.open(sandbox.url, `${main}/ws`, () => undefined);
    socket.sendBytes(bytes);
    const end = await socket.ended;
    expect([what, end.code, end.reason]).toEqual([what, code, expect.stringMatching(/./)]);
  }
  const half = await BareSocket.open(sandbox.url, `${main}/ws`, () => undefined);
  half.sendBytes(frameOf(opcodes.binary, 'x'.repeat(100_000)).subarray(0, 50_000));
  await half.drop();
  expect(await typed()).toBe(before);
  await unharmed(sandbox, client);
});

test('TERM-7 TERM-10 input to a session that has ended is refused by request, and dropped by socket', async ({
  sandbox,
}) => {
  await sandbox.ok('POST /v2/pty/sessions', { id: 'main', env: { HOME: sandbox.directory } });
  const client = await TerminalClient.attach(sandbox, 'main');
  client.type('exit 3\r');
  client.type('never read\r');
  expect(await client.receives('exit')).toMatchObject({ exit_code: 3 });
  expect((await client.closed).code).toBe(4000);
  for (const [verb, body] of Object.entries({ input: { input: 'x' }, exec: { command: 'true' }, signal: {} })) {
    const reply = await sandbox.request(`POST ${main}/${verb}`, body);
    expect([verb, reply.status, reply.body.hint]).toEqual([
      verb,
      409,
      expect.stringContaining('POST /v2/pty/sessions'),
    ]);
  }
  const late = await TerminalClient.attach(sandbox, 'main', 'cols=90');
  late.type('x');
  expect((await late.closed).code).toBe(4000);
  expect(late.messages.map(({ type }) => type as string)).toEqual(['ready', 'exit']);
  expect(await sandbox.ok(`GET ${main}`)).toMatchObject({ status: 'terminated', cols: 80, exit_code: 3 });
});

test('TERM-10 PROMISE-6 clients that never read and clients that vanish cost no other client a byte', async ({
  sandbox,
}) => {
  const client = await watched(sandbox);
  const others: BareSocket[] = [];
  for (let n = 0; n < 20; n++) {
    const path = `${main}/ws?mode=ro&durable=false&protocol=${n % 2 ? 'binary' : 'json'}`;
    // Every second client drops its connection at the first output.
    const shown = (opcode: number) => void (n % 2 === 1 && opcode === opcodes.binary && others[n]?.drop());
    others.push(await BareSocket.open(sandbox.url, path, shown));
  }
  for (const silent of others.filter((_, n) => n % 2 === 0)) silent.pause();
  client.type('seq 300000; echo al""l\r');
  await client.sees('all\r\n');
  const numbers = client.text.match(/^\d+(?=\r$)/gm)?.map(Number);
  expect(numbers).toEqual(Array.from({ length: 300_000 }, (_, n) => n + 1));
  await Promise.all(others.map((one) => one.drop()));
  await unharmed(sandbox, client);
});

test('TERM-10 PROMISE-10 a thousand connects and disconnects, one after the other, leave nothing behind', async ({
  sandbox,
}) => {
  const client = await watched(sandbox);
  const connect = async (n: number) => {
    const socket = await BareSocket.open(sandbox.url, `${main}/ws?offset=0`, () => undefined);
    if (n % 3 === 0) socket.sendBytes(frameOf(opcodes.text, '{"type":"ping"}').subarray(0, n % 15));
    await socket.drop();
  };
  const onlyClient = async () => (await sandbox.ok(`GET ${main}`))['attached'] === 1;
  // The first read at the end of the output opens a log that stays open while a client is attached.
  for (let n = 0; n < 10; n++) await connect(n);
  await until('they have gone', onlyClient);
  const before = sandbox.descriptors();
  for (let n = 0; n < 1000; n++) await connect(n);
  await until('they have gone', onlyClient);
  const hasClosed = () => sandbox.descriptors().length <= before.length;
  await until('no descriptor is left', hasClosed).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${JSON.stringify({ before, after: sandbox.descriptors() })}`);
  });
  await unharmed(sandbox, client);
});
