/**
 * The steps of an upgrade in init: the daemons take over from each other, init becomes the new program, or nothing
 * changes.
 */
import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Init,
  isAlive,
  isRoot,
  program,
  readJournal,
  readLog,
  readProc,
  rootTest,
  sendStdin,
  Stage,
  until,
  waitForLog,
} from './harness.ts';
import { flag, type } from './keeper-client.ts';

interface Outcome {
  /** The old version, the new version, and the step that failed; null when the upgrade was abandoned. */
  readonly done: readonly [from: string, to: string, fault: string] | null;
  readonly reason: string;
}

/** Requests an upgrade to a file; without its own daemon the file uses the running one. */
async function upgrade(here: Stage, file = program, daemon: readonly string[] = []): Promise<Outcome> {
  const served = (): number => here.init.lines.filter(({ event }) => event === 'ready').length;
  const before = served();
  const connection = await here.open(join(here.init.runtime, 'upgrade.sock'));
  connection.send(type.upgrade, Buffer.from(`${[file, ...daemon].join('\0')}\0`));
  const { type: kind, payload } = await connection.next(type.upgraded, type.refused);
  connection.close();
  if (kind === type.refused) return { done: null, reason: payload.toString() };
  const [from = '', to = '', fault = ''] = payload.subarray(8).toString().split('\0');
  // The answer may arrive before the lines that the new daemon has printed.
  await until('the lines of the new daemon are read', () => served() > before);
  return { done: [from, to, fault], reason: '' };
}

function daemonPids(init: Init): number[] {
  return init.lines.filter(({ event }) => event === 'boot').map(({ pid }) => Number(pid));
}

/** A copy of the program under test, so that the test can see init become the copy. */
function copyProgram(here: Stage, name: string): string {
  const path = join(here.directory, name);
  copyFileSync(program, path);
  chmodSync(path, 0o755);
  return path;
}

test('the new daemon takes over, the old one exits, and init becomes the new program with the same pid', async () => {
  await using here = await Stage.start();
  const { init } = here;
  const running = await here.shell('read line; echo "$line"; exit 4', { flags: flag.stdin });
  const before = init.pid;
  const copy = copyProgram(here, 'next');
  expect((await upgrade(here, copy)).done).toEqual(['first', 'next', '']);
  expect(init.pid).toBe(before);
  if (isRoot) expect(readlinkSync(`/proc/${init.pid}/exe`)).toBe(copy);
  expect(readProc(init.pid, 'cmdline').replaceAll('\0', '')).toBe('boxkeep: init');
  const order = init.lines.map(({ event }) => event).filter((event) => event !== 'listening');
  expect(order.slice(0, 5)).toEqual(['boot', 'ready', 'boot', 'handover', 'take']);
  expect(init.lines.filter(({ event }) => event === 'boot').at(-1)).toMatchObject({ isSuccessor: true });
  const [old = 0] = daemonPids(init);
  await until('the old daemon is reaped', () => readProc(old, 'stat') === '');
  await sendStdin(running, 0, 'still here\n');
  expect(await running.connection.status(type.exited)).toMatchObject({ exitCode: 4 });
  expect(readLog(running)).toBe('still here\n');
  expect(readLog(await here.shellToEnd('echo served'))).toBe('served\n');
});

test('repeated upgrades work, and the shutdown after them is orderly', async () => {
  await using here = await Stage.start();
  for (let index = 0; index < 3; index++) expect((await upgrade(here)).done?.[1]).toBe('next');
  expect(daemonPids(here.init)).toHaveLength(4);
  // An unprivileged test cannot inspect init. init is about to close the connection that it just answered.
  const descriptors = (): number => (isRoot ? readdirSync(`/proc/${here.init.pid}/fd`).length : 0);
  const before = descriptors();
  expect((await upgrade(here)).done?.[1]).toBe('next');
  await until('no descriptor is left over', () => descriptors() <= before);
  const running = await here.shell('trap "exit 0" TERM; echo up; while :; do sleep 0.01; done');
  await waitForLog(running, 'up');
  here.init.kill('SIGTERM');
  expect(await here.init.ended()).toEqual({ code: 0, signal: null });
  expect(readJournal(running).events[1]).toMatchObject({ cause: 3, exit_code: 0 });
});

test('a daemon that dies after the upgrade is restarted by the new program, with the same keys', async () => {
  const key = 'a-key-that-goes-over-0123456789';
  await using here = await Stage.start({ env: { SVC_API_KEY: key, LD_BIND_NOW: '1' }, arguments: ['--port', '1'] });
  await upgrade(here);
  process.kill(daemonPids(here.init).at(-1) ?? 0, 'SIGKILL');
  await until('it is started again', () => daemonPids(here.init).length === 3);
  const boots = here.init.lines.filter(({ event }) => event === 'boot');
  expect(boots.at(-1)).toMatchObject({
    isSuccessor: false,
    secrets: [`SVC_API_KEY=${key}`],
    scrubbed: ['LD_BIND_NOW=1'],
    arguments: ['start', '--port', '1', here.init.runtime],
  });
  for (const pid of [here.init.pid, ...daemonPids(here.init)])
    for (const file of ['environ', 'cmdline']) expect(readProc(pid, file)).not.toContain(key);
});

test('orphans from before and after the upgrade are reaped', async () => {
  await using here = await Stage.start();
  const script = 'sleep 0.3 & echo $!; exec sleep 600';
  const before = await here.shell(script, { flags: flag.tied });
  await upgrade(here);
  const after = await here.shell(script, { flags: flag.tied });
  for (const { status } of [before, after]) process.kill(status.keeper, 'SIGKILL');
  const orphans = [before, after].map((running) => Number(readLog(running)));
  await until('no trace is left', () =>
    [...orphans, before.status.keeper, after.status.keeper].every((pid) => readProc(pid, 'stat') === ''),
  );
});

rootTest('as PID 1 init stays PID 1 and keeps reaping', async () => {
  await using here = await Stage.start({ wrapper: ['unshare', '-p', '-f', '--mount-proc'] });
  const { init } = here;
  expect((await upgrade(here)).done?.[1]).toBe('next');
  expect(readProc(init.pid, 'status')).toMatch(/NSpid:\s+\d+\s+1\n/);
  const running = await here.shell('for i in 1 2 3 4 5; do (setsid sleep 0.01 &); done; exit 3');
  expect(await running.connection.status(type.exited)).toMatchObject({ exitCode: 3 });
  const states = (): string[] =>
    spawnSync('nsenter', ['-t', String(init.pid), '-p', '-m', 'sh', '-c', 'cat /proc/[0-9]*/stat'], {
      encoding: 'utf8',
    }).stdout.split('\n');
  await until('no zombie is left', () => !states().some((line) => line.includes(') Z ')));
  init.kill('SIGTERM');
  expect(await init.ended()).toEqual({ code: 0, signal: null });
});

/* ---- failed upgrades change nothing ---- */

async function expectAsBefore(here: Stage): Promise<void> {
  expect(readLog(await here.shellToEnd('echo served'))).toBe('served\n');
  expect(isAlive(daemonPids(here.init)[0] ?? 0)).toBe(true);
  expect((await upgradeSocketAnswers(here)).reason).toContain('cannot be run');
}

/** The upgrade socket accepts the next request. */
function upgradeSocketAnswers(here: Stage): Promise<Outcome> {
  return upgrade(here, '/nowhere/boxkeep');
}

test('a file that is not a program, does not exist, or is writable by others is refused', async () => {
  await using here = await Stage.start();
  const text = join(here.directory, 'text');
  writeFileSync(text, 'no program');
  expect((await upgrade(here, text)).reason).toBe(`${text} cannot be run: it is not a program`);
  chmodSync(text, 0o755);
  expect((await upgrade(here, text)).reason).toBe(`${text} cannot be run`);
  const open = copyProgram(here, 'open');
  chmodSync(open, 0o775);
  expect((await upgrade(here, open)).reason).toBe(`${open} cannot be run: others can write it (chmod go-w it)`);
  expect((await upgrade(here, 'relative')).reason).toBe('relative cannot be run: its path is not absolute');
  await expectAsBefore(here);
});

rootTest('a file of another account and a request of another account are refused', async () => {
  await using here = await Stage.start();
  const foreign = copyProgram(here, 'foreign');
  chownSync(foreign, 61234, 61234);
  expect((await upgrade(here, foreign)).reason).toBe(`${foreign} cannot be run: it belongs to another account`);
  spawnSync('chmod', ['-R', 'a+rwX', here.directory]);
  const script = `
    const socket = require('node:net').connect('${join(here.init.runtime, 'upgrade.sock')}');
    socket.on('error', () => undefined);
    socket.on('close', () => console.log('closed'));
  `;
  const ids = ['--reuid=61234', '--regid=61234', '--clear-groups'];
  const { stdout } = spawnSync('setpriv', [...ids, process.execPath, '-e', script], { encoding: 'utf8' });
  expect(stdout).toBe('closed\n');
  await expectAsBefore(here);
});

test('a new daemon that exits before it stands by changes nothing', async () => {
  await using here = await Stage.start({ behaviour: 'successor-dies-at-once' });
  expect((await upgrade(here)).reason).toContain('the new daemon ended with 5 before it served');
  expect(here.init.lines.some(({ event }) => event === 'handover')).toBe(false);
  await expectAsBefore(here);
});

test('a new daemon that exits during the takeover gives everything back', async () => {
  await using here = await Stage.start({ behaviour: 'successor-dies-taking' });
  expect((await upgrade(here)).reason).toContain('the new daemon ended with 6 before it served');
  expect(await here.init.line({ event: 'go-on' })).toMatchObject({ pid: daemonPids(here.init)[0] });
  await expectAsBefore(here);
});

test('a daemon that never hands over keeps serving', async () => {
  await using here = await Stage.start({ behaviour: 'never-hands' });
  expect((await upgrade(here)).reason).toBe('the daemon that serves did not hand over in time');
  await here.init.line({ event: 'go-on' });
  await expectAsBefore(here);
});

test('a daemon that dies while a new one starts is succeeded by the new one', async () => {
  await using here = await Stage.start();
  const [old = 0] = daemonPids(here.init);
  process.kill(old, 'SIGSTOP');
  const asked = upgrade(here);
  await until('the new daemon starts', () => daemonPids(here.init).length === 2);
  process.kill(old, 'SIGKILL');
  expect((await asked).done).toEqual(['first', 'next', '']);
  expect(daemonPids(here.init)).toHaveLength(2);
  expect(readLog(await here.shellToEnd('echo served'))).toBe('served\n');
});

test('a second upgrade request waits for the first upgrade', async () => {
  await using here = await Stage.start({ behaviour: 'successor-hangs' });
  const first = upgrade(here);
  await until('the new daemon starts', () => daemonPids(here.init).length === 2);
  const second = upgradeSocketAnswers(here);
  process.kill(daemonPids(here.init)[1] ?? 0, 'SIGKILL');
  expect((await first).reason).toContain('the new daemon ended with 137');
  expect((await second).reason).toContain('cannot be run');
});

test('SIGTERM during an upgrade ends both daemons and everything else', async () => {
  await using here = await Stage.start({ behaviour: 'successor-hangs' });
  const asked = upgrade(here);
  await until('the new daemon starts', () => daemonPids(here.init).length === 2);
  const start = performance.now();
  here.init.kill('SIGTERM');
  expect((await asked).reason).toBe('boxkeep was asked to end');
  expect(await here.init.ended()).toEqual({ code: 0, signal: null });
  expect(performance.now() - start).toBeLessThan(8000);
  for (const pid of daemonPids(here.init)) expect(isAlive(pid)).toBe(false);
});

test('a daemon that stays for its clients ends with boxkeep', async () => {
  await using here = await Stage.start({ behaviour: 'stays' });
  await upgrade(here);
  const [old = 0] = daemonPids(here.init);
  await here.init.line({ event: 'succeeded' });
  expect(isAlive(old)).toBe(true);
  here.init.kill('SIGTERM');
  expect(await here.init.ended()).toEqual({ code: 0, signal: null });
  expect(isAlive(old)).toBe(false);
});

test('when four old daemons stay, the oldest is asked to close', async () => {
  await using here = await Stage.start({ behaviour: 'stays' });
  for (let index = 0; index < 4; index++) await upgrade(here);
  const pids = daemonPids(here.init);
  await until('the oldest has gone', () => !isAlive(pids[0] ?? 0));
  expect(pids.slice(1).map(isAlive)).toEqual([true, true, true, true]);
});

test('resume and succeed refuse to run from a command line', () => {
  const options = { encoding: 'utf8', env: { ASAN_OPTIONS: 'detect_leaks=0' } } as const;
  const daemon = '--daemon=/bin/true';
  expect(spawnSync(program, [daemon, 'resume', '0'], options)).toMatchObject({ status: 1 });
  expect(spawnSync(program, [daemon, 'succeed', '99'], options)).toMatchObject({
    status: 2,
    stderr: 'boxkeep: this program cannot take over from the boxkeep that runs; restart it\n',
  });
});

test('STOP does what SIGTERM does, and its connection closes when init has ended', async () => {
  await using here = await Stage.start();
  const { init } = here;
  const running = await here.shell('sleep 1000');
  const connection = await here.open(join(init.runtime, 'upgrade.sock'));
  connection.send(type.stop, Buffer.alloc(0));
  const { payload } = await connection.next(type.stopping);
  expect([payload.readUInt32LE(0), payload.subarray(4).toString()]).toEqual([init.pid, 'first\0']);
  await connection.ended;
  await until('both are reaped', () => !isAlive(init.pid) && !isAlive(running.status.pid));
});
