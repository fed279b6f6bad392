/** WebSockets of terminals under stress: connections that break, clients that stall, daemons that crash. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { StalledClients } from '../harness/stalled.ts';
import { TerminalClient } from '../harness/terminal-client.ts';
import { BareSocket, frameOf, opcodes } from '../harness/terminal-fuzz-socket.ts';
import { until } from '../harness/until.ts';
import { VanishingClients } from '../harness/vanishing.ts';

const mebibyte = 1024 * 1024;
const begin = '<BEGIN>';
const end = '<END>';

/** Text of many alphabets, the same for the same seed. */
function manyTongues(bytes: number, seed: number): Buffer {
  const next = random(seed);
  const words = ['plain ', 'zwölf ', 'смысл ', '漢字 ', '😀🎉 ', '\n', '\t', '\x1b[31mred\x1b[m '];
  const parts: string[] = [];
  for (let length = 0; length < bytes; length += parts.at(-1)!.length) {
    parts.push(words[next(words.length)]!.repeat(1 + next(20)));
  }
  return Buffer.from(parts.join(''));
}

/** Whole numbers below a bound, the same for the same seed. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % below;
  };
}

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A session whose shell has no settings of an account, which may take long. */
async function session(sandbox: Sandbox, fields: object = {}): Promise<string> {
  const body = { env: { HOME: sandbox.directory }, ...fields };
  return (await sandbox.ok('POST /v2/pty/sessions', body))['session_id'] as string;
}

/** Types a line that prints a file unchanged, between two marks. */
async function print(sandbox: Sandbox, id: string, bytes: Uint8Array): Promise<void> {
  const path = join(sandbox.directory, 'printed');
  writeFileSync(path, bytes);
  const line = `stty -echo -opost; printf '<BEG''IN>'; cat ${path}; printf '<E''ND>'`;
  await sandbox.ok(`POST /v2/pty/sessions/${id}/input`, { input: line, press_enter: true });
}

function between(stream: Buffer): Buffer {
  return stream.subarray(stream.indexOf(begin) + begin.length, stream.indexOf(end));
}

/** Whether the bytes end with a whole character. */
function endsWhole(bytes: Buffer | undefined): boolean {
  const decoder = new TextDecoder();
  decoder.decode(bytes ?? Buffer.alloc(0), { stream: true });
  return decoder.decode() === '';
}

function lastOf(client: TerminalClient): string {
  return client.bytes.subarray(-100).toString('latin1');
}

/** Reads to the end mark across connections that break anywhere. */
async function readBroken(
  sandbox: Sandbox,
  id: string,
  next: (below: number) => number,
  between: () => Promise<void> = () => Promise.resolve(),
): Promise<{ stream: Buffer; connections: number }> {
  const pieces: Buffer[] = [];
  let offset = 0;
  let tail = '';
  for (let connections = 1; ; connections++) {
    // In the text protocol, a character that began on another connection is replaced.
    const protocol = next(2) === 0 && endsWhole(pieces.at(-1)) ? 'json' : 'binary';
    const mode = next(3) === 0 ? 'ro' : 'rw';
    const query = `offset=${offset}&protocol=${protocol}&mode=${mode}`;
    const client = await TerminalClient.attach(sandbox, id, query, { wantedBytes: 1 + next(300_000) });
    expect(client.ready?.['offset']).toBe(offset);
    await until('something was shown', () => client.isClosed || tail.concat(lastOf(client)).includes(end));
    if (!client.isClosed) await client.drop();
    expect(client.of('gap')).toEqual([]);
    pieces.push(client.bytes);
    tail = (tail + lastOf(client)).slice(-100);
    expect(client.offset).toBe(offset + client.shownBytes);
    offset = client.offset;
    if (tail.includes(end)) return { stream: Buffer.concat(pieces), connections };
    await between();
  }
}

test('TERM-10 PROMISE-1 connections that break at any byte lose and repeat nothing', async ({ sandbox }) => {
  const id = await session(sandbox);
  const printed = manyTongues(6 * mebibyte, 7);
  await print(sandbox, id, printed);
  const readers = [11, 22, 33].map((seed) => readBroken(sandbox, id, random(seed)));
  for (const { stream, connections } of await Promise.all(readers)) {
    expect(connections).toBeGreaterThan(20);
    expect(digest(between(stream))).toBe(digest(printed));
  }
});

test(
  'TERM-10 PROMISE-1 a daemon crash in the middle loses and repeats nothing',
  async ({ sandbox }) => {
    const id = await session(sandbox);
    const printed = manyTongues(3 * mebibyte, 8);
    await print(sandbox, id, printed);
    let deaths = 0;
    const { stream } = await readBroken(sandbox, id, random(44), async () => {
      if (deaths === 3) return;
      deaths += 1;
      process.kill(sandbox.daemonPid, 'SIGKILL');
      await sandbox.served();
    });
    expect(deaths).toBe(3);
    expect(digest(between(stream))).toBe(digest(printed));
  },
  { expectedWarnings: ['started again by init'] },
);

/** A client that attaches and then reads nothing. */
function stalledAt(sandbox: Sandbox, id: string, query: string): string {
  return [
    `GET /v2/pty/sessions/${id}/ws?${query} HTTP/1.1`,
    `Host: ${new URL(sandbox.url).host}`,
    ...['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
    ...['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', '', ''],
  ].join('\r\n');
}

async function attachedTo(sandbox: Sandbox, id: string): Promise<number> {
  return (await sandbox.ok(`GET /v2/pty/sessions/${id}`))['attached'] as number;
}

test('TERM-10 PROMISE-6 a viewer that stalls is dropped with its offset, and other viewers do not wait', async ({
  sandbox,
}) => {
  const id = await session(sandbox);
  await using stalled = new StalledClients(sandbox.url);
  await stalled.open(1, stalledAt(sandbox, id, 'mode=ro&protocol=binary&durable=false'));
  await until('it is attached', async () => (await attachedTo(sandbox, id)) === 1);
  const client = await TerminalClient.attach(sandbox, id, 'protocol=binary');
  const printed = manyTongues(24 * mebibyte, 9);
  await print(sandbox, id, printed);
  await until('it is dropped', async () => (await attachedTo(sandbox, id)) === 1);
  // A connection that takes no data at all would be closed without the message, so this is soon.
  const received = await stalled.wake();
  expect(received.slice(-200)).toMatch(/too slow: go on with offset=\d+$/);
  await client.sees(end);
  expect(digest(between(client.bytes))).toBe(digest(printed));
  await client.close();
});

let vanishing: VanishingClients;

test(
  'TERM-10 clients that vanish silently are dropped, and other clients miss nothing',
  async ({ sandbox }) => {
    const id = await session(sandbox);
    const reader = await TerminalClient.attach(sandbox, id, 'mode=ro&protocol=binary');
    // The first reads open logs that stay open while a client is attached.
    await (await TerminalClient.attach(sandbox, id, 'restore=true')).close();
    await until('it has gone', async () => (await attachedTo(sandbox, id)) === 1);
    const before = sandbox.descriptors().length;
    const { port } = new URL(sandbox.url);
    for (const mode of ['ro', 'rw']) {
      await vanishing.connect(port, stalledAt(sandbox, id, `mode=${mode}&protocol=binary`));
    }
    await until('all are attached', async () => (await attachedTo(sandbox, id)) === 3);
    vanishing.vanish();
    const printed = manyTongues(24 * mebibyte, 13);
    await print(sandbox, id, printed);
    await reader.sees(end);
    expect(digest(between(reader.bytes))).toBe(digest(printed));
    await until('they are dropped', async () => (await attachedTo(sandbox, id)) === 1);
    await until('nothing of them is left', () => sandbox.descriptors().length <= before, 30_000);
    await reader.close();
  },
  {
    prepare: () => {
      vanishing = new VanishingClients();
    },
    env: () => ({ SVC_HOST: vanishing.address }),
    expectedWarnings: ['no key is set, and anyone who can connect runs commands. Set SVC_API_KEY.'],
    afterwards: () => vanishing[Symbol.asyncDispose](),
  },
);

test('TERM-10 PROMISE-6 a writer that stalls blocks the program for at most one second', async ({ sandbox }) => {
  const id = await session(sandbox);
  await using stalled = new StalledClients(sandbox.url);
  await stalled.open(1, stalledAt(sandbox, id, 'protocol=binary&durable=false'));
  await until('it is attached', async () => (await attachedTo(sandbox, id)) === 1);
  const printed = manyTongues(40 * mebibyte, 10);
  await print(sandbox, id, printed);
  const record = () => sandbox.ok(`GET /v2/pty/sessions/${id}`);
  await until('the program runs', async () => (await record())['status'] === 'running');
  const reader = await TerminalClient.attach(sandbox, id, 'mode=ro&protocol=binary&offset=0');
  const isDropped = until('the stalled socket is dropped', async () => (await attachedTo(sandbox, id)) === 1);
  const received = isDropped.then(() => stalled.wake()); // The daemon closes the connection after 10 s.
  let [shown, movedMs, longestMs] = [0, performance.now(), 0];
  await until('the program has ended', () => {
    if (reader.shownBytes > shown) {
      [shown, movedMs] = [reader.shownBytes, performance.now()];
    }
    longestMs = Math.max(longestMs, performance.now() - movedMs);
    return reader.bytes.subarray(-1000).includes(end);
  });
  // One second, plus the delay of a busy machine.
  expect(longestMs).toBeLessThan(3000);
  expect((await received).slice(-200)).toMatch(/too slow: go on with offset=\d+$/);
  expect(digest(between(reader.bytes))).toBe(digest(printed));
  await reader.close();
});

test('TERM-10 a client that acknowledges offsets is sent only its window, and resumes there', async ({ sandbox }) => {
  const id = await session(sandbox);
  const client = await TerminalClient.attach(sandbox, id, 'protocol=binary');
  client.send({ type: 'ack', offset: 0 });
  const printed = manyTongues(8 * mebibyte, 12);
  await print(sandbox, id, printed);
  await until('the window is full', () => client.shownBytes > mebibyte);
  await Bun.sleep(300);
  expect(client.shownBytes).toBeLessThan(2 * mebibyte);
  while (!lastOf(client).includes(end)) {
    const before = client.shownBytes;
    client.send({ type: 'ack', offset: client.offset });
    await until('more is shown', () => client.shownBytes > before);
  }
  expect(digest(between(client.bytes))).toBe(digest(printed));
  client.send({ type: 'ack', data: { offset: 1234 } });
  client.send({ type: 'ping', timestamp: 1 });
  await client.receives('pong');
  await client.close();
  const next = await TerminalClient.attach(sandbox, id);
  expect(next.ready?.['offset']).toBeGreaterThan(mebibyte);
  await next.close();
});

/** A program that reads nothing until a file exists, then copies a number of bytes into another file. */
async function readsLate(sandbox: Sandbox, id: string, count: number): Promise<{ go: string; read: string }> {
  const [go, read] = [join(sandbox.directory, 'go'), join(sandbox.directory, 'read')];
  const line = `stty raw -echo; printf '<REA''DY>'; until [ -e ${go} ]; do sleep 0.05; done; head -c ${count} >${read}`;
  await sandbox.ok(`POST /v2/pty/sessions/${id}/input`, { input: line, press_enter: true });
  return { go, read };
}

test('TERM-10 TERM-7 input of several clients arrives in order, also while a program does not read', async ({
  sandbox,
}) => {
  const id = await session(sandbox);
  const parts = ['1'.repeat(300_000), '2', '3', '4', '5', '6'];
  const { go, read } = await readsLate(sandbox, id, parts.join('').length);
  const writers = await Promise.all([0, 1].map(() => TerminalClient.attach(sandbox, id, 'offset=0')));
  for (const writer of writers) await writer.sees('<READY>');
  for (const [n, part] of parts.entries()) {
    const writer = writers[[0, 0, 1, 0, 0, 1][n] ?? 0];
    writer?.type(part);
    writer?.send({ type: 'ping', timestamp: n });
    await until('it has come', () => writer?.of('pong').at(-1)?.['timestamp'] === n);
  }
  writeFileSync(go, '');
  await until('all is read', () => existsSync(read) && readFileSync(read).length === parts.join('').length);
  expect(readFileSync(read, 'latin1').slice(299_999)).toBe('123456');
  await Promise.all(writers.map((writer) => writer.close()));
});

test('TERM-10 a client that reconnects after a broken connection learns how much input had arrived', async ({
  sandbox,
}) => {
  const id = await session(sandbox);
  const { read } = await readsLate(sandbox, id, 1);
  const path = `/v2/pty/sessions/${id}/ws?protocol=binary`;
  const open = async (): Promise<{ socket: BareSocket; taken: number }> => {
    const ready = Promise.withResolvers<number>();
    const socket = await BareSocket.open(sandbox.url, path, (opcode, payload) => {
      if (opcode === opcodes.text) ready.resolve((JSON.parse(payload.toString()) as JsonObject)['input_offset'] ?? 0);
    });
    return { socket, taken: await ready.promise };
  };
  let { socket, taken } = await open();
  for (let round = 1; round <= 200; round++) {
    socket.send(opcodes.binary, 'abcd');
    if (round % 2 === 0) socket.sendBytes(frameOf(opcodes.binary, 'half of a frame').subarray(0, 9));
    await socket.drop();
    const next = await open();
    expect([round, next.taken]).toEqual([round, taken + 4]);
    ({ socket, taken } = next);
  }
  expect(existsSync(read)).toBe(false);
  await socket.drop();
});

test('TERM-10 a thousand connects and disconnects leave nothing behind', async ({ sandbox }) => {
  const id = await session(sandbox);
  const client = await TerminalClient.attach(sandbox, id);
  await until('the shell waits', () => /[$#] $/.test(lastOf(client)), 30_000);
  // The first reads open logs that stay open while a client is attached.
  await (await TerminalClient.attach(sandbox, id, 'restore=true')).close();
  await until('it has gone', async () => (await attachedTo(sandbox, id)) === 1);
  const before = { descriptors: sandbox.descriptors().length, processes: sandbox.processes().length };
  for (let round = 0; round < 50; round++) {
    const some = Array.from({ length: 20 }, (_, n) =>
      TerminalClient.attach(sandbox, id, `mode=${n % 2 ? 'rw' : 'ro'}&restore=${n % 3 === 0}`),
    );
    const open = await Promise.all(some);
    await Promise.all(open.map((one, n) => (n % 2 ? one.drop() : one.close())));
  }
  await until('all have gone', async () => (await attachedTo(sandbox, id)) === 1);
  await until('no descriptor is left', () => sandbox.descriptors().length <= before.descriptors);
  expect(sandbox.processes()).toHaveLength(before.processes);
  client.type('echo still h""ere\r');
  await client.sees('still here');
  await client.close();
});
