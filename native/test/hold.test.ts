/** hold-key: the first process of an image, which keeps the keys from every program but the daemon. */
import { expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type Init, isSanitized, memoryHolds, program, readProc, signal, Stage, until, waitForLog } from './harness.ts';
import { flag, scope } from './keeper-client.ts';

const key = 'held-needle-0123456789';
const alias = 'alias-needle-0123456789';

/** Ends with 7 when it is asked to, from before the daemon starts, and orders a daemon with one more variable. */
const script = (then = 'while :; do sleep 0.05; done') =>
  `trap 'exit 7' TERM; env >"$OUT"; env -0 ORDERED=yes OUT= >&3; exec 3>&-; ${then}`;

async function startHolder(stage: Stage, then?: string, env: Record<string, string> = {}): Promise<Init> {
  const out = join(stage.directory, 'environment');
  writeFileSync(out, '');
  return stage.startInit({ beside: ['/bin/sh', '-c', script(then)], env: { OUT: out, SVC_API_KEY: key, ...env } });
}

const childrenOf = (pid: number) => readProc(pid, `task/${pid}/children`).trim().split(' ').map(Number);
const initOf = (holder: Init) =>
  childrenOf(holder.pid).find((pid) => readProc(pid, 'comm') === 'boxkeep-init\n') ?? Number.NaN;

test('the daemon gets the key and the ordered environment, and no other process has the key', async () => {
  await using here = new Stage();
  const holder = await startHolder(here, undefined, { NODE_OPTIONS: '--no-warnings' });
  const boot = holder.lines.find(({ event }) => event === 'boot');
  expect(boot).toMatchObject({ secrets: [`SVC_API_KEY=${key}`], arguments: ['start'] });
  expect(boot).toMatchObject({ environment: { ORDERED: 'yes' }, scrubbed: ['NODE_OPTIONS=--no-warnings'] });
  const running = await here.shell('echo up; exec sleep 600', { flags: flag.tied });
  await waitForLog(running, 'up');
  const beside = readFileSync(join(here.directory, 'environment'), 'utf8');
  expect(beside).toContain('BOXKEEP_HAS_KEY=yes\n');
  expect(beside).toContain('NODE_OPTIONS=--no-warnings\n');
  expect(beside).not.toContain(key);
  expect(readProc(holder.pid, 'comm')).toBe('boxkeep-holder\n');
  const processes = [holder.pid, ...childrenOf(holder.pid), running.status.keeper, running.status.pid];
  for (const pid of processes)
    for (const file of ['environ', 'cmdline']) expect(readProc(pid, file)).not.toContain(key);
  // The sanitizer keeps a copy of the environment for itself.
  if (!isSanitized) expect(memoryHolds(running.status.keeper, key)).toBe(false);
  // Files of a process that cannot be dumped belong to root, whatever its account is.
  const owner = (pid: number, file: string) =>
    spawnSync('stat', ['-c', '%u', `/proc/${pid}/${file}`]).stdout.toString();
  for (const pid of [holder.pid, initOf(holder)]) expect(owner(pid, 'environ')).toBe('0\n');
  await signal(running, 9, scope.tree);
});

test('an empty key is none, and SANDBOX_API_KEY is the key where SVC_API_KEY is empty', async () => {
  await using here = new Stage();
  const holder = await startHolder(here, undefined, { SVC_API_KEY: '', SANDBOX_API_KEY: alias });
  expect(holder.lines.find(({ event }) => event === 'boot')?.secrets).toEqual([`SVC_API_KEY=${alias}`]);
  await using other = new Stage();
  const open = await startHolder(other, undefined, { SVC_API_KEY: '' });
  expect(open.lines.find(({ event }) => event === 'boot')?.secrets).toEqual([]);
  expect(readFileSync(join(other.directory, 'environment'), 'utf8')).toContain('BOXKEEP_HAS_KEY=no\n');
});

test('an init that is killed comes back with the same key and environment', async () => {
  await using here = new Stage();
  const holder = await startHolder(here);
  const first = initOf(holder);
  process.kill(first, 'SIGKILL');
  await until('another init runs', () => ![first, Number.NaN].includes(initOf(holder)));
  await until('its daemon has started', () => holder.lines.filter(({ event }) => event === 'ready').length === 2);
  const boots = holder.lines.filter(({ event }) => event === 'boot');
  expect(boots.map(({ secrets }) => secrets)).toEqual([[`SVC_API_KEY=${key}`], [`SVC_API_KEY=${key}`]]);
  expect(boots.at(-1)?.environment).toMatchObject({ ORDERED: 'yes' });
});

test('TERM ends the program and the daemon, with the exit code of the program', async () => {
  await using here = new Stage();
  const holder = await startHolder(here);
  holder.kill('SIGTERM');
  expect(await holder.ended()).toEqual({ code: 7, signal: null });
  expect(holder.lines.at(-1)).toEqual({ signal: 'SIGTERM' });
});

test('a key file counts as a key, and HUP reaches the daemon and ends nothing', async () => {
  await using here = new Stage();
  const holder = await startHolder(here, undefined, { SVC_API_KEY: '', SVC_API_KEY_FILE: '/run/secrets/key' });
  expect(readFileSync(join(here.directory, 'environment'), 'utf8')).toContain('BOXKEEP_HAS_KEY=yes\n');
  for (const count of [1, 2]) {
    holder.kill('SIGHUP');
    await until(
      'the daemon has the signal',
      () => holder.lines.filter((line) => line.signal === 'SIGHUP').length === count,
    );
  }
  holder.kill('SIGTERM');
  expect(await holder.ended()).toEqual({ code: 7, signal: null });
});

test('the end of the program ends the daemon, and orphans are reaped', async () => {
  await using here = new Stage();
  const holder = await startHolder(
    here,
    '(sleep 0.2 &); while [ ! -e "$0" ]; do sleep 0.05; done; exit 5'.replace('$0', join(here.directory, 'end')),
  );
  await until('the orphan is gone', () => childrenOf(holder.pid).length === 2);
  writeFileSync(join(here.directory, 'end'), '');
  expect(await holder.ended()).toEqual({ code: 5, signal: null });
});

test('a program that orders no daemon runs alone, and its exit code counts', () => {
  const run = (...args: string[]) =>
    spawnSync(program, ['--daemon=/nowhere', 'hold-key', ...args], {
      encoding: 'utf8',
      env: { ASAN_OPTIONS: 'detect_leaks=0' },
    });
  expect(run('/bin/sh', '-c', 'exit 4')).toMatchObject({ status: 4, stderr: '' });
  expect(run('/nowhere/program')).toMatchObject({ status: 126 });
  expect(run()).toMatchObject({ status: 2, stderr: 'boxkeep: hold-key needs the program to run\n' });
});
