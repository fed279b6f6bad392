/** Frames that no daemon would send: refused, bounded, and never harmful to init or to other keepers. */
import { expect, test } from 'bun:test';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { seed } from '../../test/harness/seed.ts';
import { isAlive, isSanitized, readJournal, readProc, sendStdin, signal, Stage, until } from './harness.ts';
import { encodeRequest, fields, flag, frame, scope, stage, type } from './keeper-client.ts';

const badMessage = 74;

/** A generator whose failures can be repeated. */
function randomNumbers(): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** init still creates keepers that work. */
async function expectService(here: Stage): Promise<void> {
  const { exited } = await here.shellToEnd('exit 42');
  expect(exited.exitCode).toBe(42);
}

test.each<[string, Buffer]>([
  ['a frame above the size limit', fields([32, 0xffffffff], [16, type.spawn], [16, 0])],
  ['a SPAWN of more than 8 MiB', fields([32, 8 * 1024 * 1024 + 1], [16, type.spawn], [16, 0])],
  ['another frame of more than 256 KiB', fields([32, 256 * 1024 + 1], [16, type.watch], [16, 0])],
  ['unknown flags', fields([32, 0], [16, type.spawn], [16, 1])],
  ['an unknown type', frame(99)],
  ['an event type', frame(type.status)],
  ['a frame for a running command', frame(type.tree)],
])('before the start, %s ends the connection and the keeper', async (_, bytes) => {
  await using here = await Stage.start();
  const connection = await here.connect();
  connection.sendBytes(bytes);
  await connection.ended;
  await expectService(here);
});

test('a keeper whose client disconnects before a whole SPAWN exits without a trace', async () => {
  await using here = await Stage.start();
  const directory = here.newDirectory();
  const whole = frame(type.spawn, encodeRequest({ directory, argv: ['/bin/true'] }));
  for (const size of [0, 4, 8, whole.length - 1]) {
    const connection = await here.connect();
    connection.sendBytes(whole.subarray(0, size));
    connection.close();
  }
  const children = (): string => readProc(here.init.pid, `task/${here.init.pid}/children`);
  await until('the keepers have left', () => children().trim().split(' ').length === 1);
  expect(existsSync(join(directory, 'journal'))).toBe(false);
});

test('a SPAWN that arrives byte by byte is one request', async () => {
  await using here = await Stage.start();
  const directory = here.newDirectory();
  const connection = await here.connect();
  for (const byte of frame(type.spawn, encodeRequest({ directory, argv: ['/bin/sh', '-c', 'exit 9'], env: here.env })))
    connection.sendBytes(Buffer.of(byte));
  await connection.next(type.spawned);
  expect(await connection.status(type.exited)).toMatchObject({ exitCode: 9 });
});

test('a SPAWN whose client disconnected runs once and leaves its record', async () => {
  await using here = await Stage.start();
  const directory = here.newDirectory();
  const connection = await here.connect();
  connection.send(type.spawn, encodeRequest({ directory, argv: ['/bin/sh', '-c', 'echo ran; exit 5'], env: here.env }));
  const journal = () => statSync(join(directory, 'journal'), { throwIfNoEntry: false });
  await until('its journal has a header', () => (journal()?.size ?? 0) > 0);
  connection.close();
  await until('it is over', () => readJournal({ directory }).events.length === 3);
  expect(readJournal({ directory }).events[1]).toMatchObject({ event: 'exited', exit_code: 5 });
});

/* ---- an inconsistent SPAWN ---- */

const sound = (directory: string): Buffer =>
  encodeRequest({
    directory,
    argv: ['/bin/true'],
    env: ['A=1'],
    groups: [1],
    rlimits: [{ resource: 7, soft: 1, hard: 1 }],
  });

const broken: [string, (bytes: Buffer) => Buffer][] = [
  ['no payload at all', () => Buffer.alloc(0)],
  ['a truncated header', (bytes) => bytes.subarray(0, 47)],
  ['only a header', (bytes) => bytes.subarray(0, 48)],
  ['unknown flags', (bytes) => (bytes.writeUInt32LE(1024, 0), bytes)],
  ['too many groups', (bytes) => (bytes.writeUInt16LE(65_535, 20), bytes)],
  ['too many limits', (bytes) => (bytes.writeUInt16LE(65_535, 22), bytes)],
  ['no arguments', (bytes) => (bytes.writeUInt32LE(0, 24), bytes)],
  ['four billion arguments', (bytes) => (bytes.writeUInt32LE(0xffffffff, 24), bytes)],
  ['one argument too many', (bytes) => (bytes.writeUInt32LE(3, 24), bytes)],
  ['four billion variables', (bytes) => (bytes.writeUInt32LE(0xffffffff, 28), bytes)],
  [
    'counts that overflow together',
    (bytes) => (bytes.writeUInt32LE(0x80000000, 24), bytes.writeUInt32LE(0x80000000, 28), bytes),
  ],
  ['a last string without its end', (bytes) => bytes.subarray(0, -1)],
  ['bytes after the last string', (bytes) => Buffer.concat([bytes, Buffer.of(0)])],
  ['a relative directory', () => encodeRequest({ directory: 'relative', argv: ['/bin/true'] })],
  ['an empty directory', () => encodeRequest({ directory: '', argv: ['/bin/true'] })],
];

test.each(broken)('a SPAWN with %s is refused as a protocol error', async (_, breakIt) => {
  await using here = await Stage.start();
  const directory = here.newDirectory();
  const connection = await here.connect();
  connection.send(type.spawn, breakIt(sound(directory)));
  const { payload } = await connection.next(type.failed);
  expect([payload.readUInt32LE(0), payload.readUInt32LE(4)]).toEqual([stage.protocol, badMessage]);
  await connection.ended;
  expect(existsSync(join(directory, 'journal'))).toBe(false);
});

/* ---- frames for a running command ---- */

test.each<[string, Buffer]>([
  ['a second SPAWN', frame(type.spawn, sound('/tmp'))],
  ['an unknown type', frame(27)],
  ['an event', frame(type.data, fields([64, 0], [64, 0]))],
  ['a short STDIN', frame(type.stdin, Buffer.alloc(7))],
  ['a long EOF', frame(type.eof, Buffer.alloc(9))],
  ['a short SIGNAL', frame(type.signal, Buffer.alloc(4))],
  ['a short TERMINATE', frame(type.terminate, Buffer.alloc(4))],
  ['a long RESIZE', frame(type.resize, Buffer.alloc(8))],
  ['a PAUSE with a payload', frame(type.pause, Buffer.alloc(1))],
  ['a short WATCH', frame(type.watch, Buffer.alloc(8))],
  ['a short CAP', frame(type.cap, Buffer.alloc(4))],
  ['a TREE with a payload', frame(type.tree, Buffer.alloc(4))],
])('%s ends the connection and not the command', async (_, bytes) => {
  await using here = await Stage.start();
  const running = await here.run({ argv: ['/bin/sleep', '600'] });
  running.connection.sendBytes(bytes);
  await running.connection.ended;
  const connection = await here.open(join(running.directory, 'control'));
  expect(await connection.status(type.status)).toMatchObject({ exited: false, spawned: true });
  expect(await signal({ ...running, connection }, 9, scope.leader)).toEqual({ processes: 1, errno: 0 });
  await connection.next(type.exited);
});

test('a client that never reads is dropped, and the next client receives everything', async () => {
  await using here = await Stage.start();
  const running = await here.run({ argv: ['/bin/cat'], flags: flag.stdin });
  const { connect } = await import('node:net');
  const deaf = connect(join(running.directory, 'control'));
  const closed = new Promise<void>((resolve) => deaf.once('close', () => resolve()));
  deaf.on('error', () => undefined);
  deaf.pause();
  const question = Buffer.concat(Array.from({ length: 2000 }, () => frame(type.tree)));
  deaf.write(question);
  await until('it was dropped', () => !running.connection.has(0) && isAlive(running.status.keeper));
  const next = await here.open(join(running.directory, 'control'));
  expect(await next.status(type.status)).toMatchObject({ spawned: true, exited: false });
  deaf.resume();
  deaf.destroy();
  await closed;
  expect(await sendStdin({ ...running, connection: next }, 0, 'x')).toEqual([1, 1]);
});

test('random frames neither crash a keeper nor affect its command', async () => {
  await using here = await Stage.start();
  const random = randomNumbers();
  const running = await here.run({ argv: ['/bin/cat'], flags: flag.stdin });
  const harmless = [type.stdin, type.eof, type.resize, type.pause, type.resume, type.watch, type.tree];
  for (let round = 0; round < (isSanitized ? 150 : 300); round++) {
    const connection = await here.open(join(running.directory, 'control'));
    const frames = Array.from({ length: 1 + random(5) }, () => {
      const payload = Buffer.from(Array.from({ length: random(40) }, () => random(256)));
      const frameType = random(4) > 0 ? (harmless[random(harmless.length)] ?? type.tree) : random(16) + 40;
      const bytes = frame(frameType, payload);
      if (random(10) === 0) bytes.writeUInt32LE(random(2 ** 32), 0);
      return bytes;
    });
    connection.sendBytes(Buffer.concat(frames));
    expect(await connection.status(type.status)).toMatchObject({ spawned: true });
    connection.close();
  }
  expect(isAlive(running.status.keeper)).toBe(true);
  process.kill(running.status.keeper, 'SIGTERM');
  await until('it is over', () => !isAlive(running.status.keeper));
});

test('random requests never start anything from an incomplete request', async () => {
  await using here = await Stage.start();
  const random = randomNumbers();
  for (let round = 0; round < (isSanitized ? 100 : 250); round++) {
    const directory = here.newDirectory();
    const payload = Buffer.from(sound(directory));
    for (let changes = 1 + random(4); changes > 0; changes--)
      payload[random(Math.min(payload.length, 60))] = random(256);
    const size = random(4) === 0 ? random(payload.length) : payload.length;
    const connection = await here.connect();
    connection.send(type.spawn, payload.subarray(0, size));
    const { type: answer } = await connection.next(type.spawned, type.failed, type.exited);
    if (answer === type.spawned) await connection.next(type.exited);
    connection.close();
  }
  await expectService(here);
});
