/** Terminals: size, job control, the end character, retention, hangup. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  endStdin,
  isRoot,
  readLog,
  readProc,
  sendStdin,
  signal,
  Stage,
  stdinState,
  terminate,
  until,
  waitForLog,
  type Running,
} from './harness.ts';
import { decodeStatus, fields, flag, scope, type, type Connection } from './keeper-client.ts';

const terminal = { flags: flag.terminal };
const account = { flags: flag.terminal | flag.account, uid: 61234, gid: 61234 };

/** Types at a terminal, and counts the bytes. */
function typist(running: Running): (text: string) => Promise<void> {
  let offset = 0;
  return async (text) => {
    await sendStdin(running, offset, text);
    offset += text.length;
  };
}

test('a command at a terminal has a controlling terminal of the requested size', async () => {
  await using here = await Stage.start();
  const { exited, directory, status } = await here.shellToEnd(
    'test -t 0 && test -t 1 && test -t 2 && stty size; tty; stty size < /dev/tty; echo err >&2',
    {
      ...(isRoot ? account : terminal),
      rows: 33,
      cols: 101,
    },
  );
  const [size, name, controlling, err] = readLog({ directory }).split('\r\n');
  expect(size).toBe('33 101');
  expect(name).toMatch(/^\/dev\/pts\/\d+$/);
  expect(controlling).toBe('33 101');
  expect(err).toBe('err');
  expect(status.stdinOpen).toBe(true);
  expect(exited).toMatchObject({ exitCode: 0, closed: true });
});

test('a terminal belongs to the account and can be reopened', async () => {
  await using here = await Stage.start();
  const { directory } = await here.shellToEnd(
    'echo again > /dev/tty; echo too > $(tty); stat -c %u $(tty)',
    isRoot ? account : terminal,
  );
  expect(readLog({ directory })).toBe(`again\r\ntoo\r\n${isRoot ? 61234 : process.getuid?.()}\r\n`);
});

test('RESIZE changes the size and notifies the command', async () => {
  await using here = await Stage.start();
  const running = await here.shell('trap "stty size" WINCH; echo up; while :; do sleep 0.01; done', terminal);
  await waitForLog(running, 'up');
  running.connection.send(type.resize, fields([16, 50], [16, 132]));
  await waitForLog(running, '50 132');
  terminate(running, 0);
  await running.connection.next(type.exited);
});

/** On a busy machine the system echoes late, and the keeper then acknowledges before. Returns how many keys it took. */
async function typeUntilEcho(connection: Connection): Promise<number> {
  connection.send(type.follow, fields([64, 4], [64, 0], [32, 4096], [32, 32]));
  for (let keys = 1; keys <= 32; keys++) {
    connection.send(type.stdin, Buffer.concat([fields([64, keys - 1]), Buffer.from('k')]));
    const { payload } = await connection.next(type.output);
    expect([Number(payload.readBigUInt64LE(16)), Number(payload.readBigUInt64LE(24))]).toEqual([keys, keys]);
    expect(payload.subarray(32).toString()).toBe('k');
    if (!connection.has(type.stdinState)) return keys;
    await connection.next(type.stdinState);
  }
  throw new Error('no key was acknowledged with its echo');
}

test('typed input is acknowledged with its echo, and soon where there is none', async () => {
  await using here = await Stage.start();
  const running = await here.shell('echo up; read line; stty -echo; echo quiet; read line', terminal);
  const { connection } = running;
  await waitForLog(running, 'up\r\n');
  const keys = await typeUntilEcho(connection);
  connection.send(type.stdin, Buffer.concat([fields([64, keys]), Buffer.from('\n')]));
  await waitForLog(running, 'quiet\r\n');
  connection.send(type.stdin, Buffer.concat([fields([64, keys + 1]), Buffer.from('unseen')]));
  for (let accepted = 0; accepted < keys + 7;) [accepted] = await stdinState(connection);
  expect(readLog(running)).toBe(`up\r\n${'k'.repeat(keys)}\r\nquiet\r\n`);
  terminate(running, 0);
  await connection.next(type.exited);
});

test('^C ends the foreground job and not the shell, ^D ends the shell', async () => {
  await using here = await Stage.start();
  const running = await here.run({
    ...terminal,
    argv: ['/bin/bash', '--norc', '--noprofile', '-i'],
    env: [...here.env, 'PS1=ready> '],
  });
  const say = typist(running);
  await waitForLog(running, 'ready> ');
  await say('sleep 600\n');
  await waitForLog(running, 'sleep 600\r\n');
  await untilRuns(running, 'sleep');
  await say('\x03');
  await say('echo $((40+2))\n');
  await waitForLog(running, '42\r\n');
  endStdin(running, 10 + 1 + 15);
  expect(await running.connection.status(type.exited)).toMatchObject({ exited: true, cause: 0 });
});

test('TERMINATE hangs a terminal up: a shell that ignores SIGTERM ends, and its stopped job with it', async () => {
  await using here = await Stage.start();
  const running = await here.run({
    ...terminal,
    argv: ['/bin/bash', '--norc', '--noprofile', '-i'],
    env: [...here.env, 'PS1=ready> '],
  });
  const say = typist(running);
  await waitForLog(running, 'ready> ');
  await say('sleep 600\n');
  await untilRuns(running, 'sleep');
  await say('\x1a');
  await waitForLog(running, 'Stopped');
  terminate(running, 60_000);
  expect(await running.connection.status(type.exited)).toMatchObject({ signal: 1, cause: 1 });
  await running.connection.ended;
});

test('on TERMINATE session members receive SIGHUP, and every process that survives receives SIGTERM', async () => {
  await using here = await Stage.start();
  const script = 'trap "echo hup >>$0" HUP; trap "echo term >>$0; exit" TERM; echo up; while :; do sleep 0.01; done';
  const [inside, outside] = [join(here.directory, 'inside'), join(here.directory, 'outside')];
  const start = (file: string, before: string) => `${before} sh -c '${script}' ${file} &`;
  const running = await here.shell(`${start(inside, '')} ${start(outside, 'setsid')} wait`, terminal);
  await waitForLog(running, /up\r\nup\r\n/);
  terminate(running, 60_000);
  expect(await running.connection.status(type.exited)).toMatchObject({ signal: 1 });
  await running.connection.ended;
  // The kernel sends SIGHUP once more at the end of the leader.
  expect(readFileSync(inside, 'utf8')).toMatch(/^(hup\n){1,2}term\n$/);
  expect(readFileSync(outside, 'utf8')).toBe('term\n');
});

async function untilRuns(running: Running, name: string): Promise<void> {
  const children = (): number[] =>
    readProc(running.status.pid, `task/${running.status.pid}/children`).split(' ').filter(Boolean).map(Number);
  await until(`${name} runs`, () => children().some((pid) => readProc(pid, 'comm') === `${name}\n`));
}

test('an end of input is sent once per offset, and again further on', async () => {
  await using here = await Stage.start();
  const running = await here.shell('stty -echo; echo up; cat; echo first; cat; echo second', terminal);
  await waitForLog(running, 'up');
  await sendStdin(running, 0, 'one\n');
  endStdin(running, 4);
  endStdin(running, 4);
  await waitForLog(running, 'one\r\nfirst\r\n');
  await sendStdin(running, 4, 'two\n');
  endStdin(running, 8);
  await running.connection.next(type.exited);
  expect(readLog(running)).toBe('up\r\none\r\nfirst\r\ntwo\r\nsecond\r\n');
});

test('input typed after a pending end arrives after that end', async () => {
  await using here = await Stage.start();
  const running = await here.shell('stty -echo; echo up; read go; cat; echo between; cat', terminal);
  await waitForLog(running, 'up');
  endStdin(running, 8);
  await sendStdin(running, 0, 'go\nbody\nrest\n');
  await waitForLog(running, 'between\r\nrest');
  endStdin(running, 13);
  await running.connection.next(type.exited);
  expect(readLog(running)).toBe('up\r\nbody\r\nbetween\r\nrest\r\n');
});

test('a long paste into a raw terminal arrives whole', async () => {
  await using here = await Stage.start();
  const total = 1 << 20;
  const running = await here.shell(`stty raw -echo; echo up; head -c ${total} | sha256sum`, terminal);
  await waitForLog(running, 'up');
  const bytes = Buffer.from(Array.from({ length: total }, (_, index) => 32 + ((index * 7 + (index >> 6)) % 90)));
  let accepted = 0;
  while (accepted < total) {
    const [now, written] = await sendStdin(running, accepted, bytes.subarray(accepted, accepted + 200_000));
    accepted = now;
    if (now < total && now - written === 256 * 1024) await stdinState(running.connection);
  }
  await running.connection.next(type.exited);
  expect(readLog(running)).toContain(new Bun.CryptoHasher('sha256').update(bytes).digest('hex'));
});

test('all output of a terminal is in the log at its exit', async () => {
  await using here = await Stage.start();
  const { exited, directory } = await here.shellToEnd('stty -opost; seq 1 100000', terminal);
  const whole = Array.from({ length: 100_000 }, (_, index) => `${index + 1}\n`).join('');
  expect(exited.end[0]).toBe(whole.length);
  expect(readLog({ directory })).toBe(whole);
});

test('a background job of a terminal does not delay its end', async () => {
  await using here = await Stage.start();
  const running = await here.shell('trap "" HUP; sleep 600 & echo up; exit 3', terminal);
  expect(await running.connection.status(type.exited)).toMatchObject({ exitCode: 3, closed: true });
  expect(await signal(running, 9, scope.tree)).toMatchObject({ processes: 1 });
  await running.connection.ended;
});

test('a blocking terminal holds back a flood for the reader and loses nothing', async () => {
  await using here = await Stage.start();
  const cap = 128 * 1024;
  const running = await here.shell('stty -opost; exec seq 1 200000', { flags: flag.terminal | flag.block, cap });
  const whole = Array.from({ length: 200_000 }, (_, index) => `${index + 1}\n`).join('');
  let [read, isOver] = [0, false];
  while (!isOver) {
    running.connection.send(type.watch, fields([64, read], [64, 0]));
    const frame = await running.connection.next(type.data, type.exited);
    isOver = frame.type === type.exited;
    const end = isOver ? decodeStatus(frame.payload).end[0] : Number(frame.payload.readBigUInt64LE(0));
    const part = readFileSync(join(running.directory, 'out')).subarray(read, end).toString();
    expect(part === whole.slice(read, end)).toBe(true);
    read = end;
  }
  expect(read).toBe(whole.length);
});
