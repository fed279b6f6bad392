/** The end of commands and of everything they started: signals, process trees, grace periods, timeouts. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import {
  isAlive,
  readJournal,
  readLog,
  readProc,
  rootTest,
  type Running,
  signal,
  Stage,
  statFields,
  terminate,
  tree,
  until,
  untilAsync,
  waitForLog,
} from './harness.ts';
import { fields, flag, scope, stage, type } from './keeper-client.ts';

const number = { hup: 1, int: 2, kill: 9, usr1: 10, term: 15, stop: 19, winch: 28 };

async function printedPids(running: Running, count: number): Promise<number[]> {
  const log = await waitForLog(running, new RegExp(`(?:\\d+\\n){${count}}`));
  return log.trim().split('\n').slice(0, count).map(Number);
}

test.each([
  ['a new session', 'setsid sh -c "echo \\$\\$; exec sleep 600" & wait'],
  ['a nohup job in the background', 'nohup sh -c "echo \\$\\$; exec sleep 600" 2>/dev/null & wait'],
  ['a double fork', '(setsid sh -c "echo \\$\\$; exec sleep 600" &) ; sleep 600'],
  ['a stopped process', 'sh -c "echo \\$\\$; kill -STOP \\$\\$" & wait; sleep 600'],
  ['a process that ignores SIGTERM', 'trap "" TERM HUP INT; echo $$; while :; do sleep 600; done'],
])('a kill reaches %s', async (_, script) => {
  await using here = await Stage.start();
  const running = await here.shell(script);
  const [pid = 0] = await printedPids(running, 1);
  here.watchPid(pid);
  terminate(running, 50);
  expect(await running.connection.status(type.exited)).toMatchObject({ exited: true, cause: 1, oom: 0 });
  await running.connection.ended;
  expect(isAlive(pid)).toBe(false);
});

test('a stopped process receives SIGTERM before the grace period ends', async () => {
  await using here = await Stage.start();
  const running = await here.shell(
    'trap "echo asked; exit 9" TERM; echo $$; kill -STOP $$; while :; do sleep 0.01; done',
  );
  const [pid = 0] = await printedPids(running, 1);
  await until('it is stopped', () => statFields(pid)[0] === 'T');
  terminate(running, 60_000);
  expect(await running.connection.status(type.exited)).toMatchObject({ exitCode: 9, cause: 1 });
  expect(readLog(running)).toContain('asked');
});

test('sixty respawning processes all end, without a zombie', async () => {
  await using here = await Stage.start();
  const respawner = 'trap "" TERM; while :; do sleep 0.004; setsid sleep 0.003; done';
  const running = await here.run({
    argv: ['/bin/sh', '-c', 'for i in $(seq 60); do setsid sh -c "$1" & done; echo up; wait', 'sh', respawner],
  });
  await waitForLog(running, 'up');
  await until('they run', () => here.survivors().length > 60);
  const start = performance.now();
  terminate(running, 0);
  await running.connection.status(type.exited);
  await running.connection.ended;
  expect(performance.now() - start).toBeLessThan(5000);
  await until('init reaped the keeper', () => readProc(running.status.keeper, 'stat') === '');
});

test('a shell that keeps forking short-lived children ends', async () => {
  await using here = await Stage.start();
  const running = await here.shell('echo up; while :; do (exit 0) & (setsid sh -c "exit 0" &) ; wait; done');
  await waitForLog(running, 'up');
  terminate(running, 0);
  await running.connection.status(type.exited);
  await running.connection.ended;
});

test('TERMINATE lets a command exit by itself within the grace period', async () => {
  await using here = await Stage.start();
  const running = await here.shell('trap "echo bye; exit 3" TERM; echo up; while :; do sleep 0.01; done');
  await waitForLog(running, 'up');
  terminate(running, 60_000);
  expect(await running.connection.status(type.exited)).toMatchObject({ exitCode: 3, signal: 0, cause: 1 });
  expect(readLog(running)).toBe('up\nbye\n');
});

test('a shorter grace period replaces a longer one', async () => {
  await using here = await Stage.start();
  const running = await here.shell('trap "" TERM; echo up; while :; do sleep 600; done');
  await waitForLog(running, 'up');
  terminate(running, 60_000);
  terminate(running, 20);
  expect(await running.connection.status(type.exited)).toMatchObject({ signal: number.kill, cause: 1 });
});

test('the hard timeout ends the tree and is reported as the cause', async () => {
  await using here = await Stage.start();
  const running = await here.shell('trap "echo asked" TERM; echo up; while :; do sleep 600 & wait; done', {
    hardTimeoutMs: 1500, // The trap stands by then.
    graceMs: 100,
  });
  expect(await running.connection.status(type.exited)).toMatchObject({ signal: number.kill, cause: 2, oom: 0 });
  expect(readLog(running)).toContain('asked');
  expect(readJournal(running).events[1]).toMatchObject({ cause: 2, signal: 9 });
});

test('the hard timeout works without any client, and not after the exit', async () => {
  await using here = await Stage.start();
  const running = await here.shell('echo up; sleep 600', { hardTimeoutMs: 200, graceMs: 100 });
  running.connection.close();
  await until('it has ended', () => readJournal(running).events.length === 3);
  expect(readJournal(running).events[1]).toMatchObject({ cause: 2, signal: 15 });

  const over = await here.shell('sleep 600 & echo $!; exit 0', { hardTimeoutMs: 50, graceMs: 0 });
  await over.connection.next(type.exited);
  const slower = await here.shell('sleep 600', { hardTimeoutMs: 200, graceMs: 0 });
  await slower.connection.next(type.exited);
  const [pid = 0] = await printedPids(over, 1);
  expect(isAlive(pid)).toBe(true);
});

test('the first cause is the one reported', async () => {
  await using here = await Stage.start();
  const running = await here.shell('trap "" TERM; echo up; while :; do sleep 600; done', {
    hardTimeoutMs: 2000,
    graceMs: 0,
  });
  await waitForLog(running, 'up');
  await signal(running, number.term, scope.leader);
  expect(await running.connection.status(type.exited)).toMatchObject({ signal: 9, cause: 1 });
});

/* ---- signals ---- */

test('signals reach the leader, its group, or every descendant', async () => {
  await using here = await Stage.start();
  const member = (name: string): string => `sh -c 'trap "echo ${name}" USR1; echo up; while :; do sleep 0.01; done'`;
  const running = await here.shell(
    `trap "echo leader" USR1; ${member('member')} & setsid ${member('stranger')} & echo up; while :; do sleep 0.01; done`,
  );
  await waitForLog(running, /(up\n){3}/);

  expect(await signal(running, number.usr1, scope.leader)).toEqual({ processes: 1, errno: 0 });
  await waitForLog(running, /leader\n$/);
  expect(await tree(running)).toContain(running.status.pid);
  const all = await signal(running, 0, scope.tree);
  expect(all.processes).toBeGreaterThanOrEqual(3);
  await signal(running, number.kill, scope.tree);
  await running.connection.next(type.exited);
});

test('a group signal stays inside the group', async () => {
  await using here = await Stage.start();
  const running = await here.shell('sleep 600 & setsid sh -c "echo \\$\\$; exec sleep 600" & wait');
  const [stranger = 0] = await printedPids(running, 1);
  const { processes, errno } = await signal(running, number.kill, scope.group);
  expect([processes >= 2, errno]).toEqual([true, 0]);
  expect(await running.connection.status(type.exited)).toMatchObject({ signal: 9, cause: 1, oom: 0 });
  expect(isAlive(stranger)).toBe(true);
  await untilAsync('only the stranger is left', async () => (await tree(running)).join() === String(stranger));
});

test('after the leader’s exit signals still reach its group, and no longer the leader', async () => {
  await using here = await Stage.start();
  const running = await here.shell('sleep 600 & echo $!; exit 0');
  await running.connection.next(type.exited);
  const [pid = 0] = await printedPids(running, 1);
  expect(await signal(running, number.term, scope.leader)).toEqual({ processes: 0, errno: 3 });
  expect(await signal(running, number.term, scope.group)).toEqual({ processes: 1, errno: 0 });
  await running.connection.ended;
  expect(isAlive(pid)).toBe(false);
});

test('a member leads neither its session nor its group, and a group signal reaches it', async () => {
  await using here = await Stage.start();
  const running = await here.shell('sleep 600 & echo $!; wait', { flags: flag.tied | flag.member });
  const { pid, keeper } = running.status;
  const [child = 0] = await printedPids(running, 1);
  const [, parent = 0, group = 0, session = 0] = statFields(pid).map(Number);
  expect([parent, group === pid, session]).toEqual([keeper, false, group]);
  expect(statFields(child).slice(2, 4).map(Number)).toEqual([group, session]);
  expect(isAlive(group)).toBe(false);

  expect(await signal(running, number.term, scope.group)).toEqual({ processes: 2, errno: 0 });
  expect(await running.connection.status(type.exited)).toMatchObject({ signal: 15, cause: 1 });
  await running.connection.ended;
  expect(isAlive(child)).toBe(false);
});

test('setsid(1) of a member waits for its program, and a program that is missing is reported', async () => {
  await using here = await Stage.start();
  const flags = flag.tied | flag.member;
  const running = await here.shell('exec setsid sh -c "sleep 0.05; exit 7"', { flags });
  expect(await running.connection.status(type.exited)).toMatchObject({ exitCode: 7, signal: 0 });
  expect(await here.failure({ argv: ['/nowhere/program'], flags })).toMatchObject({ stage: stage.exec });
});

test('signals that do not exist are refused', async () => {
  await using here = await Stage.start();
  const running = await here.run({ argv: ['/bin/sleep', '600'] });
  expect(await signal(running, 65, scope.leader)).toEqual({ processes: 0, errno: 22 });
  expect(await signal(running, 15, 3)).toEqual({ processes: 0, errno: 22 });
  expect(await signal(running, number.winch, scope.leader)).toEqual({ processes: 1, errno: 0 });
  await signal(running, number.term, scope.leader);
  expect(await running.connection.status(type.exited)).toMatchObject({ signal: 15, cause: 1 });
});

test('a signal that does not ask for an end is not a cause of one', async () => {
  await using here = await Stage.start();
  const running = await here.shell('trap : USR1; echo up; read line; exit 0', { flags: flag.stdin });
  await waitForLog(running, 'up');
  await signal(running, number.usr1, scope.leader);
  running.connection.send(type.eof, fields([64, 0]));
  expect(await running.connection.status(type.exited)).toMatchObject({ cause: 0 });

  const dies = await here.run({ argv: ['/bin/sleep', '600'] });
  await signal(dies, number.usr1, scope.leader);
  expect(await dies.connection.status(type.exited)).toMatchObject({ cause: 1, signal: number.usr1 });
});

test('TREE does not list zombies', async () => {
  await using here = await Stage.start();
  // The job ends once the shell has become another program: the shell itself would reap the job.
  const running = await here.shell(
    'sh -c "until grep -q sleep /proc/\\$PPID/comm; do :; done" & echo $!; exec sleep 600',
  );
  const [zombie = 0] = await printedPids(running, 1);
  await until('it is a zombie', () => statFields(zombie)[0] === 'Z');
  expect(await tree(running)).toEqual([running.status.pid]);
});

test('a process name of brackets and newlines hides no process', async () => {
  await using here = await Stage.start();
  const name = join(here.directory, 'a) Z 1 (b');
  await Bun.write(name, Bun.file('/bin/sleep'));
  const running = await here.shell(`chmod 755 '${name}'; '${name}' 600 & echo $!; wait`);
  const [pid = 0] = await printedPids(running, 1);
  await until('it has its name', () => readProc(pid, 'comm').startsWith('a)'));
  expect(await tree(running)).toContain(pid);
});

test('SIGTERM to a keeper ends its command with cause 3', async () => {
  await using here = await Stage.start();
  const running = await here.shell('echo up; sleep 600');
  await waitForLog(running, 'up');
  process.kill(running.status.keeper, 'SIGTERM');
  expect(await running.connection.status(type.exited)).toMatchObject({ cause: 3, signal: 15 });
  await running.connection.ended;
});

test('signals that a keeper ignores do nothing', async () => {
  await using here = await Stage.start();
  const running = await here.shell('read line; exit 0', { flags: flag.stdin });
  for (const name of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGUSR1', 'SIGPIPE', 'SIGALRM', 'SIGTSTP'] as const)
    process.kill(running.status.keeper, name);
  running.connection.send(type.eof, fields([64, 0]));
  expect(await running.connection.status(type.exited)).toMatchObject({ cause: 0 });
});

rootTest('an account cannot signal its keeper', async () => {
  await using here = await Stage.start();
  const { exited, directory } = await here.shellToEnd('kill -9 $PPID; echo $?', {
    flags: flag.account,
    uid: 61234,
    gid: 61234,
  });
  expect(exited.exitCode).toBe(0);
  expect(readLog({ directory })).toBe('1\n');
});
