/** Commands from start to exit: output, codes, errors with their stage, accounts, limits. */
import { expect, test } from 'bun:test';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  isRoot,
  readJournal,
  readLog,
  readProc,
  rootTest,
  signal,
  Stage,
  statFields,
  waitForLog,
  waitForOutput,
} from './harness.ts';
import { decodeStatus, encodeRequest, flag, scope, stage, type } from './keeper-client.ts';

const errno = {
  noEntry: 2,
  tooBig: 7,
  notExecutable: 8,
  noAccess: 13,
  exists: 17,
  notDirectory: 20,
  badMessage: 74,
  permission: 1,
};
const account = { flags: flag.account, uid: 61234, gid: 61235 };

/** CAP_SYS_RESOURCE, which root in a container commonly lacks. */
function canLowerOomScore(): boolean {
  const effective = /CapEff:\s+([0-9a-f]+)/.exec(readProc(process.pid, 'status'))?.[1] ?? '0';
  return ((BigInt(`0x${effective}`) >> 24n) & 1n) === 1n;
}

test('a command writes both logs and ends with its exit code, and the journal records the same', async () => {
  await using here = await Stage.start();
  const { connection, directory, status, exited } = await here.shellToEnd('echo one; echo two >&2; exit 7');

  expect(status).toMatchObject({ spawned: true, exited: false, exitCode: -1 });
  expect(exited).toMatchObject({
    exited: true,
    closed: true,
    exitCode: 7,
    signal: 0,
    cause: 0,
    oom: 0,
    end: [4, 4],
    lost: [0, 0],
  });
  expect(exited.exitedNs).toBeGreaterThan(exited.startedNs);
  expect(readLog({ directory })).toBe('one\n');
  expect(readLog({ directory }, 'err')).toBe('two\n');
  await connection.ended;
  const { header, events } = readJournal({ directory });
  expect(header).toMatchObject({ v: 1, head: [0, 0], gaps: [[], []] });
  expect(header.seq).toBe(header.seq2);
  expect(events.map(({ event }) => event)).toEqual(['spawned', 'exited', 'closed']);
  expect(events[1]).toMatchObject({
    exit_code: 7,
    signal: 0,
    pid: status.pid,
    keeper: status.keeper,
    end: [4, 4],
    head: [0, 0],
    lost: [0, 0],
  });
  expect(existsSync(join(directory, 'control'))).toBe(false);
});

test('the journal reserves its space from the start', async () => {
  await using here = await Stage.start();
  const { directory } = await here.shellToEnd('true');
  const journal = statSync(join(directory, 'journal'));
  expect(journal.blocks * 512).toBeGreaterThanOrEqual(8192);
  expect(journal.mode & 0o777).toBe(0o600);
  expect(readFileSync(join(directory, 'journal')).at(1023)).toBe(10);
});

test.each([
  ['exit 0', 0, 0],
  ['exit 255', 255, 0],
  ['kill -9 $$', -1, 9],
  ['kill -15 $$', -1, 15],
  ['kill -11 $$', -1, 11],
])('%s is reported as code %d, signal %d', async (script, exitCode, number) => {
  await using here = await Stage.start();
  const { exited } = await here.shellToEnd(script);
  expect(exited).toMatchObject({ exitCode, signal: number, cause: 0, oom: 0 });
});

test('merge writes both streams to one log in write order', async () => {
  await using here = await Stage.start();
  const { directory, exited } = await here.shellToEnd('for i in 1 2 3; do echo o$i; echo e$i >&2; done', {
    flags: flag.merge,
  });
  expect(readLog({ directory })).toBe('o1\ne1\no2\ne2\no3\ne3\n');
  expect(exited.end).toEqual([18, 0]);
  expect(existsSync(join(directory, 'err'))).toBe(false);
});

test('discard counts output but keeps no logs', async () => {
  await using here = await Stage.start();
  const { directory, exited } = await here.shellToEnd('echo gone', { flags: flag.discard });
  expect(exited).toMatchObject({ end: [5, 0], head: [5, 0], lost: [0, 0], exitCode: 0 });
  expect(existsSync(join(directory, 'out'))).toBe(false);
});

test('a stream without output has no file', async () => {
  await using here = await Stage.start();
  const { directory } = await here.shellToEnd('echo spoken');
  expect([existsSync(join(directory, 'out')), existsSync(join(directory, 'err'))]).toEqual([true, false]);
});

test('a deferred start is reported by EXITED when the command ends first, and by SPAWNED otherwise', async () => {
  await using here = await Stage.start();
  const first = async (script: string) => {
    const connection = await here.connect();
    const argv = ['/bin/sh', '-c', script];
    connection.send(
      type.spawn,
      encodeRequest({ env: here.env, argv, directory: here.newDirectory(), flags: flag.defer }),
    );
    return connection.next(type.spawned, type.exited);
  };
  // A short one may take longer than the 2 ms on a busy machine, but not always.
  const short = await Promise.all(Array.from({ length: 50 }, () => first('exit 3')));
  const records = short.filter((frame) => frame.type === type.exited).map((frame) => decodeStatus(frame.payload));
  expect(records.length).toBeGreaterThan(0);
  for (const status of records) expect(status).toMatchObject({ exitCode: 3, pid: expect.any(Number) as number });
  expect((await first('sleep 0.2')).type).toBe(type.spawned);
});

test('standard streams can be reopened, and no other descriptor is inherited', async () => {
  await using here = await Stage.start();
  const { directory } = await here.shellToEnd(
    'echo a > /dev/stdout; echo b > /dev/stderr; ls /proc/self/fd; cat; umask',
    {
      ...(isRoot ? account : {}),
    },
  );
  expect(readLog({ directory })).toBe('a\n0\n1\n2\n3\n0022\n'); // 3 is what ls reads
  expect(readLog({ directory }, 'err')).toBe('b\n');
});

test('a child starts with every signal unblocked and at its default', async () => {
  await using here = await Stage.start();
  const { directory } = await here.shellToEnd('cat /proc/self/status');
  const status = readLog({ directory });
  expect(status).toMatch(/SigBlk:\s+0{16}\n/);
  expect(status).toMatch(/SigIgn:\s+0{16}\n/);
});

test('a child leads its own session', async () => {
  await using here = await Stage.start();
  const running = await here.shell('echo up; sleep 600');
  await waitForOutput(running);
  const [, , group, session] = statFields(running.status.pid);
  expect([Number(group), Number(session)]).toEqual([running.status.pid, running.status.pid]);
  await signal(running, 9, scope.tree);
});

/* ---- errors ---- */

test.each<[string, string[], string, number, number]>([
  ['a missing program', ['/nowhere/program'], '', stage.exec, errno.noEntry],
  ['a name not in PATH', ['no-such-program'], '', stage.exec, errno.noEntry],
  ['an empty name', [''], '', stage.exec, errno.noEntry],
  ['a file that is not executable', ['/etc/passwd'], '', stage.exec, errno.noAccess],
  ['a directory as the program', ['/etc'], '', stage.exec, errno.noAccess],
  ['an argument of 200 KB', ['/bin/true', 'x'.repeat(200_000)], '', stage.exec, errno.tooBig],
  ['a missing working directory', ['/bin/true'], '/nowhere', stage.cwd, errno.noEntry],
  ['a file as the working directory', ['/bin/true'], '/etc/passwd', stage.cwd, errno.notDirectory],
])('%s is refused with stage and errno', async (_, argv, cwd, expectedStage, expectedErrno) => {
  await using here = await Stage.start();
  const failure = await here.failure({ argv, cwd });
  expect(failure).toMatchObject({ stage: expectedStage, errno: expectedErrno });
  const { events } = readJournal(failure);
  expect(events).toMatchObject([{ event: 'failed', stage: expectedStage, errno: expectedErrno }]);
  expect(existsSync(join(failure.directory, 'control'))).toBe(false);
});

test('a script without an interpreter line fails with ENOEXEC', async () => {
  await using here = await Stage.start();
  const script = join(here.directory, 'script');
  writeFileSync(script, 'echo hello\n');
  chmodSync(script, 0o755);
  expect(await here.failure({ argv: [script] })).toMatchObject({ stage: stage.exec, errno: errno.notExecutable });
});

test('a missing working directory is refused at its stage', async () => {
  await using here = await Stage.start();
  expect(await here.failure({ argv: ['/bin/true'], directory: '/nowhere/at/all' })).toMatchObject({
    stage: stage.directory,
    errno: errno.noEntry,
  });
});

test('PATH is searched in order; a file that may not run outranks an absent one; an empty entry is the working directory', async () => {
  await using here = await Stage.start();
  const denied = join(here.directory, 'denied');
  mkdirSync(denied);
  writeFileSync(join(denied, 'tool'), '');
  const cwd = join(here.directory, 'cwd');
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'local-tool'), '#!/bin/sh\necho local\n');
  chmodSync(join(cwd, 'local-tool'), 0o755);

  const isDenied = await here.failure({
    argv: ['tool'],
    env: [...here.env, `PATH=/nowhere:${denied}:/bin`].filter((v) => !v.startsWith('PATH=/usr')),
  });
  expect(isDenied).toMatchObject({ stage: stage.exec, errno: errno.noAccess });
  const running = await here.run({ argv: ['local-tool'], cwd, env: ['PATH=/nowhere::/bin'] });
  await running.connection.next(type.exited);
  expect(readLog(running)).toBe('local\n');
  const relative = await here.run({ argv: ['./local-tool'], cwd });
  await relative.connection.next(type.exited);
  expect(readLog(relative)).toBe('local\n');
});

test('a megabyte of arguments and environment passes', async () => {
  await using here = await Stage.start();
  const argv = ['/bin/sh', '-c', 'echo $# ${#BIG}', 'sh', ...Array.from({ length: 10 }, () => 'x'.repeat(100_000))];
  const running = await here.run({ argv, env: [...here.env, `BIG=${'y'.repeat(120_000)}`] });
  await running.connection.next(type.exited);
  expect(readLog(running)).toBe('10 120000\n');
});

/* ---- accounts and limits ---- */

rootTest('the account gets its ids and all its supplementary groups', async () => {
  await using here = await Stage.start();
  const groups = Array.from({ length: 40 }, (_, index) => 70_000 + index);
  const { directory } = await here.shellToEnd('id -u; id -g; id -G; grep Groups /proc/self/status', {
    ...account,
    groups,
  });
  const [uid, gid, all] = readLog({ directory }).split('\n');
  expect([uid, gid]).toEqual(['61234', '61235']);
  expect(
    (all ?? '')
      .split(' ')
      .map(Number)
      .filter((group) => group !== account.gid),
  ).toEqual(groups);
});

rootTest('without groups a command has none of the daemon’s groups', async () => {
  await using here = await Stage.start();
  const { directory } = await here.shellToEnd('id -G', account);
  expect(readLog({ directory })).toBe('61235\n');
});

rootTest('PATH and the working directory are resolved as the account', async () => {
  await using here = await Stage.start();
  const secret = join(here.directory, 'secret');
  mkdirSync(secret, { mode: 0o700 });
  expect(await here.failure({ argv: ['/bin/true'], cwd: secret, ...account })).toMatchObject({
    stage: stage.cwd,
    errno: errno.noAccess,
  });
  const env = [`PATH=${secret}:/bin`];
  expect(await here.failure({ argv: ['no-such-program'], cwd: '/', env, ...account })).toMatchObject({
    stage: stage.exec,
    errno: errno.noEntry,
  });
});

test('limits are set, and a limit that cannot be set is reported', async () => {
  await using here = await Stage.start();
  const { directory } = await here.shellToEnd('ulimit -Sn; ulimit -Hn; ulimit -c', {
    rlimits: [
      { resource: 7, soft: 123, hard: 456 },
      { resource: 4, soft: 0, hard: 0 },
    ],
  });
  expect(readLog({ directory })).toBe('123\n456\n0\n');
  expect(await here.failure({ argv: ['/bin/true'], rlimits: [{ resource: 7, soft: 10, hard: 5 }] })).toMatchObject({
    stage: stage.rlimit,
    errno: 22,
  });
});

test('the OOM score is the requested one, or the one boxkeep started with', async () => {
  await using here = await Stage.start();
  const script = 'cat /proc/self/oom_score_adj';
  const asked = await here.shellToEnd(script, { oomScoreAdj: 500 });
  const left = await here.shellToEnd(script);
  expect(readLog(asked)).toBe('500\n');
  expect(readLog(left)).toBe(readFileSync('/proc/self/oom_score_adj', 'utf8'));
  if (canLowerOomScore()) expect(readProc(here.init.pid, 'oom_score_adj')).toBe('-900\n');
});

/* ---- the claim ---- */

test('a second request in the same directory is refused and leaves the live logs alone', async () => {
  await using here = await Stage.start();
  const running = await here.shell('echo first; sleep 600');
  await waitForLog(running, 'first\n');
  const second = await here.failure({ argv: ['/bin/echo', 'second'], directory: running.directory });
  expect(second).toMatchObject({ stage: stage.claim, errno: errno.exists });
  expect(readLog(running)).toBe('first\n');
  expect(readJournal(running).events.map(({ event }) => event)).toEqual(['spawned']);
  const again = await here.open(join(running.directory, 'control'));
  expect(await again.status(type.status)).toMatchObject({ spawned: true, exited: false, pid: running.status.pid });
  await signal({ ...running, connection: again }, 9, scope.tree);
});

test('a directory that another process claimed never runs a command', async () => {
  await using here = await Stage.start();
  const directory = here.newDirectory();
  writeFileSync(join(directory, 'journal'), '{"event":"never-started"}\n');
  expect(await here.failure({ argv: ['/bin/true'], directory })).toMatchObject({
    stage: stage.claim,
    errno: errno.exists,
  });
  expect(existsSync(join(directory, 'out'))).toBe(false);
});
