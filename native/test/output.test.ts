/** Output on its way into the logs: notification, order, retention, pauses, full disks, pipes that stay open. */
import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import {
  endStdin,
  isAlive,
  isRoot,
  readJournal,
  readLog,
  rootTest,
  type Running,
  sendStdin,
  Stage,
  terminate,
  until,
  waitForLog,
  waitForOutput,
} from './harness.ts';
import { fields, flag, stage, type, type Status } from './keeper-client.ts';

/** The order index as [stream, end] pairs. */
function readOrder(running: { directory: string }): [number, number][] {
  const bytes = readFileSync(join(running.directory, 'order'));
  return Array.from({ length: bytes.length / 8 }, (_, index) => {
    const entry = bytes.readBigUInt64LE(index * 8);
    return [Number(entry & 1n), Number(entry >> 1n)];
  });
}

async function statusOf(here: Stage, running: Running): Promise<Status> {
  const connection = await here.open(join(running.directory, 'control'));
  running.connection = connection;
  return connection.status(type.status);
}

/* ---- notification ---- */

test('WATCH is answered once, as soon as a stream passes its offset', async () => {
  await using here = await Stage.start();
  const running = await here.run({ argv: ['/bin/cat'], flags: flag.stdin });
  running.connection.send(type.watch, fields([64, 3], [64, 0]));
  await sendStdin(running, 0, 'abc');
  await waitForLog(running, 'abc');
  expect(running.connection.has(type.data)).toBe(false);
  await sendStdin(running, 3, 'def');
  const { payload } = await running.connection.next(type.data);
  expect(payload.readBigUInt64LE(0)).toBe(6n);
  await sendStdin(running, 6, 'ghi');
  await waitForLog(running, 'abcdefghi');
  endStdin(running, 9);
  await running.connection.next(type.exited);
  expect(running.connection.has(type.data)).toBe(false);
});

interface Pushed {
  readonly end: number;
  readonly accepted: number;
  readonly written: number;
  readonly text: string;
}

function follow(running: Running, from: number, most: number, times: number): void {
  running.connection.send(type.follow, fields([64, from], [64, 0], [32, most], [32, times]));
}

async function nextPushed(running: Running): Promise<Pushed> {
  const { payload } = await running.connection.next(type.output);
  const [end, , accepted, written] = [0, 8, 16, 24].map((at) => Number(payload.readBigUInt64LE(at))) as [
    number,
    number,
    number,
    number,
  ];
  return { end, accepted, written, text: payload.subarray(32).toString() };
}

test('FOLLOW sends small output with its bytes, up to the requested number of times', async () => {
  await using here = await Stage.start();
  const running = await here.run({ argv: ['/bin/cat'], flags: flag.stdin });
  follow(running, 0, 4096, 2);
  await sendStdin(running, 0, 'abc');
  expect(await nextPushed(running)).toEqual({ end: 3, accepted: 3, written: 3, text: 'abc' });
  await sendStdin(running, 3, 'def');
  expect(await nextPushed(running)).toEqual({ end: 6, accepted: 6, written: 6, text: 'def' });
  await sendStdin(running, 6, 'ghi');
  await waitForLog(running, 'abcdefghi');
  endStdin(running, 9);
  await running.connection.next(type.exited);
  expect(running.connection.has(type.output)).toBe(false);
  expect(running.connection.has(type.data)).toBe(false);
});

test('FOLLOW sends only the new end of larger output, then nothing until the next request', async () => {
  await using here = await Stage.start();
  const running = await here.run({ argv: ['/bin/cat'], flags: flag.stdin });
  await sendStdin(running, 0, 'abcdef');
  await waitForLog(running, 'abcdef');
  follow(running, 1, 4, 9);
  expect(await nextPushed(running)).toMatchObject({ end: 6, text: '' });
  await sendStdin(running, 6, 'ghi');
  await waitForLog(running, 'abcdefghi');
  expect(running.connection.has(type.output)).toBe(false);
  follow(running, 5, 4, 9);
  expect(await nextPushed(running)).toMatchObject({ end: 9, text: 'fghi' });
  const large = 'x'.repeat(600);
  await sendStdin(running, 9, large);
  expect(await nextPushed(running)).toMatchObject({ end: 609, text: '' });
  await sendStdin(running, 609, 'end');
  await waitForLog(running, 'end');
  endStdin(running, 612);
  await running.connection.next(type.exited);
  expect(running.connection.has(type.output)).toBe(false);
});

test('FOLLOW sends no bytes that the log has dropped', async () => {
  await using here = await Stage.start();
  const running = await here.run({ argv: ['/bin/cat'], flags: flag.stdin, cap: 4096 });
  await sendStdin(running, 0, 'x'.repeat(4096));
  await waitForOutput(running, 4095);
  await sendStdin(running, 4096, 'y');
  await waitForOutput(running, 4096);
  follow(running, 0, 2 ** 32 - 1, 1);
  expect(await nextPushed(running)).toMatchObject({ end: 4097, text: '' });
  terminate(running, 0);
  await running.connection.next(type.exited);
});

test('EXITED arrives when all output of the leader is in the log', async () => {
  await using here = await Stage.start();
  const { exited, directory } = await here.shellToEnd('head -c 5000000 /dev/zero; echo err >&2');
  expect(exited.end).toEqual([5_000_000, 4]);
  expect(statSync(join(directory, 'out')).size).toBe(5_000_000);
});

test('a grandchild that holds the pipe delays CLOSED, not EXITED, and never receives SIGPIPE', async () => {
  await using here = await Stage.start();
  const fifo = join(here.directory, 'fifo');
  spawnSync('mkfifo', [fifo]);
  const running = await here.shell(`(read line < ${fifo}; echo late; echo $? >&2) & echo early; exit 3`);
  const exited = await running.connection.status(type.exited);
  expect(exited).toMatchObject({ exitCode: 3, exited: true, closed: false, end: [6, 0] });
  expect(running.connection.has(type.closed)).toBe(false);
  const gate = openSync(fifo, 'w');
  writeSync(gate, 'go\n');
  closeSync(gate);
  expect(await running.connection.status(type.closed)).toMatchObject({ closed: true, end: [11, 2], exitCode: 3 });
  await running.connection.ended;
  expect(readLog(running)).toBe('early\nlate\n');
  expect(readLog(running, 'err')).toBe('0\n');
  expect(readJournal(running).events.map(({ event }) => event)).toEqual(['spawned', 'exited', 'closed']);
});

test('a command with closed streams ends no earlier than its exit', async () => {
  await using here = await Stage.start();
  const running = await here.shell('exec >&- 2>&-; read line; exit 4', { flags: flag.stdin });
  await until('both streams are closed', () => existsSync(join(running.directory, 'control')));
  await sendStdin(running, 0, 'go\n');
  expect(await running.connection.status(type.exited, type.closed)).toMatchObject({ exitCode: 4, closed: true });
});

/* ---- order ---- */

test('the order index reports finished runs, and only when both streams have output', async () => {
  await using here = await Stage.start();
  const running = await here.shell(
    'while read where text; do if [ $where = o ]; then echo $text; else echo $text >&2; fi; done',
    { flags: flag.stdin },
  );
  let offset = 0;
  let [out, err] = [0, 0];
  const say = async (line: string): Promise<void> => {
    await sendStdin(running, offset, `${line}\n`);
    offset += line.length + 1;
    [out, err] = await waitForOutput(running, out, err);
  };
  await say('o aa');
  await say('o bb');
  expect(existsSync(join(running.directory, 'order'))).toBe(false);
  await say('e ccc');
  expect(readOrder(running)).toEqual([[0, 6]]);
  await say('e dd');
  await say('o e');
  expect(readOrder(running)).toEqual([
    [0, 6],
    [1, 7],
  ]);
  await say('e f');
  endStdin(running, offset);
  await running.connection.next(type.exited);
  expect(readOrder(running)).toEqual([
    [0, 6],
    [1, 7],
    [0, 8],
  ]);
});

/* ---- retention ---- */

test('past the cap the oldest bytes are dropped, three quarters stay, and the header reports the drop', async () => {
  await using here = await Stage.start();
  const cap = 256 * 1024;
  const { exited, directory } = await here.shellToEnd('seq 1 200000', { cap });
  const whole = Array.from({ length: 200_000 }, (_, index) => `${index + 1}\n`).join('');
  const [head, end] = [exited.head[0], exited.end[0]];
  expect(end).toBe(whole.length);
  expect(end - head).toBeGreaterThanOrEqual((cap * 3) / 4);
  expect(end - head).toBeLessThanOrEqual(cap);
  expect(exited.lost).toEqual([0, 0]);
  expect(readJournal({ directory }).header.head).toEqual([head, 0]);
  expect(readFileSync(join(directory, 'out')).subarray(head).toString()).toBe(whole.slice(head));
  expect(statSync(join(directory, 'out')).blocks * 512).toBeLessThanOrEqual(cap + 64 * 1024);
});

test('CAP lowers the retained size at once, and applies to later output', async () => {
  await using here = await Stage.start();
  const running = await here.shell('seq 1 200000; read line; seq 1 200000', {
    cap: 8 * 1024 * 1024,
    flags: flag.stdin,
  });
  const once = Array.from({ length: 200_000 }, (_, index) => `${index + 1}\n`).join('');
  for (let [out, err] = [0, 0]; out < once.length;) [out, err] = await waitForOutput(running, out, err);
  const cap = 128 * 1024;
  running.connection.send(type.cap, fields([64, cap]));
  await sendStdin(running, 0, '\n');
  const exited = await running.connection.status(type.exited);
  expect(exited.end[0]).toBe(once.length * 2);
  expect(exited.end[0] - exited.head[0]).toBeLessThanOrEqual(cap);
  expect(readFileSync(join(running.directory, 'out')).subarray(exited.head[0]).toString()).toBe(
    (once + once).slice(exited.head[0]),
  );
});

test.each([1, 2, 3, 4, 5, 100, 4095, 4096, 5000, 9000])('a cap of %d bytes holds', async (cap) => {
  await using here = await Stage.start();
  const { exited, directory } = await here.shellToEnd('seq 1 3000', { cap });
  const whole = Array.from({ length: 3000 }, (_, index) => `${index + 1}\n`).join('');
  expect(exited.end[0]).toBe(whole.length);
  expect(exited.end[0] - exited.head[0]).toBeLessThanOrEqual(cap);
  expect(readFileSync(join(directory, 'out')).subarray(exited.head[0]).toString()).toBe(whole.slice(exited.head[0]));
});

/* ---- pause, block, release ---- */

test('PAUSE blocks the command and RESUME lets the command continue', async () => {
  await using here = await Stage.start();
  const running = await here.run({ argv: ['/bin/cat'], flags: flag.stdin });
  running.connection.send(type.pause);
  await sendStdin(running, 0, 'held');
  expect(await statusOf(here, running)).toMatchObject({ paused: true, end: [0, 0] });
  running.connection.send(type.resume);
  expect(await waitForOutput(running)).toEqual([4, 0]);
  endStdin(running, 4);
  await running.connection.next(type.exited);
});

test('the exit of a paused command is reported with all its output', async () => {
  await using here = await Stage.start();
  const running = await here.shell('read line; echo said while paused; exit 5', { flags: flag.stdin });
  running.connection.send(type.pause);
  await sendStdin(running, 0, 'go\n');
  expect(await running.connection.status(type.exited)).toMatchObject({
    exitCode: 5,
    closed: true,
    paused: true,
    end: [18, 0],
  });
});

test('a blocking command waits at its cap for the reader, and only while a reader is connected', async () => {
  await using here = await Stage.start();
  const cap = 64 * 1024;
  const running = await here.shell('head -c 400000 /dev/zero; exit 6', { flags: flag.block, cap });
  await until(
    'the log is full',
    () => statSync(join(running.directory, 'out'), { throwIfNoEntry: false })?.size === cap,
  );
  const [first] = await waitForOutput(running, cap / 2);
  // The keeper may take more output in before it answers, because the bytes below a WATCH may be evicted.
  expect(first).toBeGreaterThanOrEqual(cap);
  expect(first).toBeLessThanOrEqual(cap + cap / 2);
  const [end] = await waitForOutput(running, cap);
  const status = await statusOf(here, running);
  expect(status.exited).toBe(false);
  expect(status.head[0]).toBeLessThanOrEqual(cap);
  expect(end - status.head[0]).toBeLessThanOrEqual(cap);
  running.connection.close();
  await until('it has ended', () => readJournal(running).events.length === 3);
  expect(readJournal(running).events[1]).toMatchObject({ exit_code: 6, end: [400_000, 0], lost: [0, 0] });
});

test('RELEASE drops retained and later output, and the command continues', async () => {
  await using here = await Stage.start();
  const running = await here.shell('echo before; while read line; do echo "$line"; done; exit 8', {
    flags: flag.stdin,
    cap: 4096,
  });
  await waitForLog(running, 'before');
  running.connection.send(type.release);
  await sendStdin(running, 0, 'after\n');
  expect(await waitForOutput(running, 7)).toEqual([13, 0]);
  expect(readLog(running)).toBe('');
  rmSync(running.directory, { recursive: true });
  endStdin(running, 6);
  expect(await running.connection.status(type.exited)).toMatchObject({
    exitCode: 8,
    end: [13, 0],
    head: [13, 0],
    lost: [0, 0],
  });
  await running.connection.ended;
});

test('RELEASE frees a command that was paused or blocked', async () => {
  await using here = await Stage.start();
  const running = await here.shell('head -c 1000000 /dev/zero', { flags: flag.block, cap: 8192 });
  await waitForOutput(running, 8191);
  running.connection.send(type.release);
  expect(await running.connection.status(type.exited)).toMatchObject({ exitCode: 0, end: [1_000_000, 0] });
});

/* ---- full disks ---- */

/** A separate small file system, removed at the end. */
function smallDisk(here: Stage, size: string): Disposable & { path: string } {
  const path = join(here.directory, 'disk');
  mkdirSync(path);
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'tmpfs', path]);
  if (status !== 0) throw new Error(stderr.toString());
  return { path, [Symbol.dispose]: () => void spawnSync('umount', ['-l', path]) };
}

function newDirectoryOn(disk: { path: string }, name: string): string {
  const directory = join(disk.path, name);
  mkdirSync(directory, { mode: 0o700 });
  return directory;
}

/** Fills the remaining space. */
function fill(disk: { path: string }): void {
  spawnSync('dd', ['if=/dev/zero', `of=${join(disk.path, 'filler')}`, 'bs=4096']);
}

rootTest('on a full disk the command never waits, its exit code is kept, and lost output is reported', async () => {
  await using here = await Stage.start();
  using disk = smallDisk(here, '1m');
  const directory = newDirectoryOn(disk, 'command');
  const { exited } = await here.shellToEnd('head -c 8000000 /dev/urandom; exit 11', { directory, cap: 1 << 30 });
  expect(exited).toMatchObject({ exitCode: 11, end: [8_000_000, 0], closed: true });
  expect(exited.head[0]).toBeGreaterThan(0);
  expect(readJournal({ directory }).events.map(({ event }) => event)).toEqual(['spawned', 'exited', 'closed']);
});

rootTest('when no old output can be dropped, the bytes are counted as lost and recorded as a gap', async () => {
  await using here = await Stage.start();
  using disk = smallDisk(here, '1m');
  const directory = newDirectoryOn(disk, 'command');
  const running = await here.run({ argv: ['/bin/cat'], flags: flag.stdin, directory });
  fill(disk);
  const text = 'x'.repeat(20_000);
  await sendStdin(running, 0, text);
  expect(await waitForOutput(running, 19_999)).toEqual([20_000, 0]);
  const full = await statusOf(here, running);
  expect(full.lost[0]).toBe(20_000);
  expect(readJournal(running).header.gaps).toEqual([[[0, 20_000]], []]);
  rmSync(join(disk.path, 'filler'));
  await sendStdin(running, 20_000, 'kept again');
  expect(await waitForOutput(running, 20_009)).toEqual([20_010, 0]);
  endStdin(running, 20_010);
  const exited = await running.connection.status(type.exited);
  expect(exited).toMatchObject({ exitCode: 0, lost: [20_000, 0], head: [0, 0] });
  expect(readFileSync(join(directory, 'out')).subarray(20_000).toString()).toBe('kept again');
});

rootTest('more than eight gaps become eight, and the bytes between the nearest gaps are dropped', async () => {
  await using here = await Stage.start();
  using disk = smallDisk(here, '1m');
  const directory = newDirectoryOn(disk, 'command');
  const running = await here.run({ argv: ['/bin/cat'], flags: flag.stdin, directory });
  let offset = 0;
  const say = async (text: string): Promise<void> => {
    await sendStdin(running, offset, text);
    offset += text.length;
    await waitForOutput(running, offset - 1);
  };
  // Each round keeps some bytes, then loses some; the log ends on page boundaries so that a full disk is really full.
  for (let round = 0; round < 10; round++) {
    await say(`${round}`.repeat(4096 * (round + 1)));
    fill(disk);
    await say('-'.repeat(4096 * 40));
    rmSync(join(disk.path, 'filler'));
  }
  const status = await statusOf(here, running);
  const gaps = readJournal(running).header.gaps[0];
  expect(gaps.length).toBeLessThanOrEqual(8);
  const missing = gaps.reduce((sum, [from, to]) => sum + to - Math.max(from, status.head[0]), 0);
  expect(missing).toBeLessThanOrEqual(status.lost[0]);
  for (const [index, [from, to]] of gaps.entries()) {
    expect(to).toBeGreaterThan(from);
    expect(from).toBeGreaterThan(index > 0 ? (gaps[index - 1]?.[1] ?? 0) : -1);
    expect(to).toBeGreaterThan(status.head[0]);
  }
  endStdin(running, offset);
  const { exitCode, end } = await running.connection.status(type.exited);
  expect([exitCode, end[0]]).toEqual([0, offset]);
});

rootTest('a new command on a full disk is refused, and its directory can be claimed again', async () => {
  await using here = await Stage.start();
  using disk = smallDisk(here, '1m');
  const directory = newDirectoryOn(disk, 'command');
  fill(disk);
  expect(await here.failure({ argv: ['/bin/true'], directory })).toMatchObject({ stage: stage.claim, errno: 28 });
  expect(existsSync(join(directory, 'journal'))).toBe(false);
  rmSync(join(disk.path, 'filler'));
  const running = await here.run({ argv: ['/bin/true'], directory });
  expect(await running.connection.status(type.exited)).toMatchObject({ exitCode: 0 });
});

rootTest('a file system without holes and preallocation works too', async () => {
  await using here = await Stage.start();
  const path = join(here.directory, 'ramfs');
  mkdirSync(path);
  expect(spawnSync('mount', ['-t', 'ramfs', '-o', 'mode=0700', 'ramfs', path]).status).toBe(0);
  using _disk: Disposable = { [Symbol.dispose]: () => void spawnSync('umount', ['-l', path]) };
  const directory = newDirectoryOn({ path }, 'command');
  const { exited } = await here.shellToEnd('seq 1 100000', { directory, cap: 100_000 });
  const whole = Array.from({ length: 100_000 }, (_, index) => `${index + 1}\n`).join('');
  expect(exited).toMatchObject({ end: [whole.length, 0], lost: [0, 0] });
  expect(readFileSync(join(directory, 'out')).subarray(exited.head[0]).toString()).toBe(whole.slice(exited.head[0]));
  expect(readJournal({ directory }).events.map(({ event }) => event)).toEqual(['spawned', 'exited', 'closed']);
});

/* ---- the keeper's end ---- */

test('a killed keeper takes its tied leader along, and the journal records no invented end', async () => {
  await using here = await Stage.start();
  const running = await here.shell('echo up; sleep 600', {
    flags: flag.tied,
    ...(isRoot ? { flags: flag.tied | flag.account, uid: 61234, gid: 61234 } : {}),
  });
  await waitForLog(running, 'up');
  process.kill(running.status.keeper, 'SIGKILL');
  await until('the leader is gone', () => !isAlive(running.status.pid));
  await running.connection.ended;
  expect(readJournal(running).events.map(({ event }) => event)).toEqual(['spawned']);
  await until('its orphans are reaped by init', () => here.survivors().every((pid) => pid !== running.status.pid));
});

test('a leader that is not tied outlives its keeper', async () => {
  await using here = await Stage.start();
  const running = await here.shell('echo up; exec sleep 600');
  await waitForLog(running, 'up');
  process.kill(running.status.keeper, 'SIGKILL');
  await running.connection.ended;
  expect(isAlive(running.status.pid)).toBe(true);
});

test('output continues while no client is connected, and STATUS reports what a client missed', async () => {
  await using here = await Stage.start();
  const running = await here.shell('read go; echo said alone; exit 12', { flags: flag.stdin });
  await sendStdin(running, 0, 'go');
  running.connection.close();
  const again = await here.open(join(running.directory, 'control'));
  expect(await again.status(type.status)).toMatchObject({ exited: false, stdinAccepted: 2 });
  const replaced = await here.open(join(running.directory, 'control'));
  await replaced.next(type.status);
  await again.ended;
  await sendStdin({ ...running, connection: replaced }, 2, '\n');
  expect(await replaced.status(type.exited)).toMatchObject({ exitCode: 12, end: [11, 0] });
});

test('a terminated pipe holder outside the tree does not stop the keeper from reporting the exit', async () => {
  await using here = await Stage.start();
  const running = await here.shell('echo up; sleep 600');
  await waitForLog(running, 'up');
  const outsider = openSync(`/proc/${running.status.pid}/fd/1`, 'w');
  terminate(running, 0);
  expect(await running.connection.status(type.exited)).toMatchObject({ closed: false });
  closeSync(outsider);
  expect(await running.connection.status(type.closed)).toMatchObject({ closed: true });
  await running.connection.ended;
});
