/** stdin by offsets: repetitions, gaps, the window, the end. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { endStdin, readLog, sendStdin, signal, Stage, stdinState, waitForLog, waitForOutput } from './harness.ts';
import { fields, flag, scope, type } from './keeper-client.ts';

const windowBytes = 256 * 1024;

test('bytes arrive in order, and the end arrives after them', async () => {
  await using here = await Stage.start();
  const running = await here.run({ argv: ['/bin/cat'], flags: flag.stdin });
  expect(running.status).toMatchObject({ stdinOpen: true });
  expect(await sendStdin(running, 0, 'hello ')).toEqual([6, 6]);
  expect(await sendStdin(running, 6, 'world')).toEqual([11, 11]);
  endStdin(running, 11);
  expect(await running.connection.status(type.exited)).toMatchObject({
    exitCode: 0,
    stdinOpen: false,
    stdinAccepted: 11,
    stdinWritten: 11,
  });
  expect(readLog(running)).toBe('hello world');
});

test('without the flag stdin is empty', async () => {
  await using here = await Stage.start();
  const { status, exited, directory } = await here.shellToEnd('cat; echo done; stat -Lc %a /dev/null');
  expect(status.stdinOpen).toBe(false);
  expect(exited.exitCode).toBe(0);
  expect(readLog({ directory })).toBe('done\n666\n');
});

test('a repetition does nothing, an overlap adds its new part, a gap is ignored', async () => {
  await using here = await Stage.start();
  const running = await here.run({ argv: ['/bin/cat'], flags: flag.stdin });
  expect(await sendStdin(running, 0, 'abcdef')).toEqual([6, 6]);
  expect(await sendStdin(running, 0, 'abcdef')).toEqual([6, 6]);
  expect(await sendStdin(running, 2, 'cd')).toEqual([6, 6]);
  expect(await sendStdin(running, 4, 'efgh')).toEqual([8, 8]);
  expect(await sendStdin(running, 9, 'lost')).toEqual([8, 8]);
  expect(await sendStdin(running, 2 ** 52, 'lost')).toEqual([8, 8]);
  endStdin(running, 8);
  await running.connection.next(type.exited);
  expect(readLog(running)).toBe('abcdefgh');
});

test('an end requested early waits for its bytes and accepts none after it', async () => {
  await using here = await Stage.start();
  const running = await here.run({ argv: ['/bin/cat'], flags: flag.stdin });
  endStdin(running, 4);
  expect(await sendStdin(running, 0, 'ab')).toEqual([2, 2]);
  expect(await sendStdin(running, 2, 'cdef')).toEqual([4, 4]);
  await running.connection.next(type.exited);
  expect(readLog(running)).toBe('abcd');
});

test('the window limits the accepted bytes, and its opening is reported', async () => {
  await using here = await Stage.start();
  const held = await here.run({ argv: ['/bin/sleep', '600'], flags: flag.stdin });
  const chunk = Buffer.alloc(100_000, 'x');
  let [accepted, written] = [0, 0];
  for (let round = 0; round < 5; round++) [accepted, written] = await sendStdin(held, accepted, chunk);
  expect(accepted - written).toBe(windowBytes);
  expect(written).toBeGreaterThan(0);
  expect(await sendStdin(held, accepted, chunk)).toEqual([accepted, written]);
  await signal(held, 9, scope.tree);
});

test('a slow reader gets every byte once', async () => {
  await using here = await Stage.start();
  const running = await here.run({ argv: ['/bin/sh', '-c', 'exec sha256sum'], flags: flag.stdin, env: here.env });
  const total = 4 * 1024 * 1024;
  const bytes = Buffer.alloc(total);
  for (let index = 0; index < total; index++) bytes[index] = (index * 31 + (index >> 8)) & 255;
  let accepted = 0;
  while (accepted < total) {
    const chunk = bytes.subarray(accepted, accepted + 200_000);
    const [now, written] = await sendStdin(running, accepted, chunk);
    accepted = now;
    if (now - written === windowBytes) await stdinState(running.connection);
  }
  endStdin(running, total);
  await running.connection.next(type.exited);
  expect(readLog(running).split(' ')[0]).toBe(new Bun.CryptoHasher('sha256').update(bytes).digest('hex'));
});

test('when no reader is left, further input is accepted and dropped', async () => {
  await using here = await Stage.start();
  const running = await here.shell('exec 0<&-; echo closed; sleep 600', { flags: flag.stdin });
  await waitForLog(running, 'closed');
  const [accepted, written] = await sendStdin(running, 0, 'no reader is left');
  expect([accepted, written]).toEqual([17, 17]);
  const again = await here.open(join(running.directory, 'control'));
  expect(await again.status(type.status)).toMatchObject({ stdinOpen: false, exited: false });
  await signal({ ...running, connection: again }, 9, scope.tree);
});

test('a new client learns the stdin offset and continues', async () => {
  await using here = await Stage.start();
  const running = await here.run({ argv: ['/bin/cat'], flags: flag.stdin });
  await sendStdin(running, 0, 'before ');
  running.connection.close();
  const connection = await here.open(join(running.directory, 'control'));
  const status = await connection.status(type.status);
  expect(status).toMatchObject({ stdinAccepted: 7, stdinWritten: 7, stdinOpen: true });
  const again = { ...running, connection };
  await sendStdin(again, status.stdinAccepted, 'after');
  endStdin(again, 12);
  await connection.next(type.exited);
  expect(readLog(running)).toBe('before after');
});

test('an empty frame only queries the offset', async () => {
  await using here = await Stage.start();
  const running = await here.run({ argv: ['/bin/cat'], flags: flag.stdin });
  running.connection.send(type.stdin, fields([64, 0]));
  expect(await stdinState(running.connection)).toEqual([0, 0]);
  await sendStdin(running, 0, 'x');
  await waitForOutput(running);
  endStdin(running, 0);
  await running.connection.next(type.exited);
});
