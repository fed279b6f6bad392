/** Keepers hold one command after another, and a keeper that has gone is replaced without a failed start. */
import { expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { until } from '../../../../test/harness/until.ts';
import { runtimeWithInit } from '../../../../test/harness/keeper-init.ts';
import { Ownership } from '../../kit/ownership.ts';
import { KeeperSpawn } from './spawn.ts';

const { directory, init } = await runtimeWithInit('spare-keepers');
const open = () => new KeeperSpawn(directory, new Ownership(), (name, error) => expect([name, error]).toBeNull());

/** Runs a script to its end and returns the pid of its keeper. */
async function keeperOf(spawn: KeeperSpawn, script: string, exitCode = 0): Promise<number> {
  const child = await spawn.start({
    plane: 'commands',
    note: {},
    argv: ['/bin/sh', '-c', script],
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
    account: null,
    stdin: 'null',
    isAwaited: true,
    capBytes: 1024,
    graceMs: 1000,
  });
  await child.closed();
  while (child.isAttached) await child.changed();
  expect(child.end).toMatchObject({ kind: 'exited', exitCode });
  const journal = readFileSync(`${child.directory.path}/journal`, 'utf8');
  child.forget();
  return Number(/"keeper":(\d+)/.exec(journal)?.[1]);
}

const keepersOf = (): string[] =>
  readFileSync(`/proc/${init.pid}/task/${init.pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter((pid) => pid !== '' && readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('boxkeep-'));

test('commands that follow one another share keepers', async () => {
  using spawn = open();
  const keepers: number[] = [];
  for (let run = 0; run < 20; run++) keepers.push(await keeperOf(spawn, `exit ${run}`, run));
  // The first keeper had to report its version. One more was started ahead.
  expect(new Set(keepers).size).toBeLessThanOrEqual(3);
});

test('commands at the same time have keepers of their own', async () => {
  using spawn = open();
  await keeperOf(spawn, 'true');
  for (let round = 0; round < 3; round++) {
    const keepers = await Promise.all(Array.from({ length: 24 }, (_, run) => keeperOf(spawn, `exit ${run}`, run)));
    expect(keepers).not.toContain(NaN);
  }
  expect(keepersOf().length).toBeLessThanOrEqual(24);
});

test('a command whose idle keeper was killed runs with another keeper', async () => {
  using spawn = open();
  await keeperOf(spawn, 'true');
  for (let round = 0; round < 5; round++) {
    const keeper = await keeperOf(spawn, 'true');
    process.kill(keeper, 'SIGKILL');
    expect(await keeperOf(spawn, 'exit 3', 3)).not.toBe(keeper);
  }
});

test('idle keepers exit when the daemon leaves its keepers to another one', async () => {
  const spawn = open();
  await keeperOf(spawn, 'true');
  const keeper = await keeperOf(spawn, 'true');
  await spawn.release(new AbortController().signal);
  await until('the idle keeper has exited', () => !existsSync(`/proc/${keeper}`));
  spawn[Symbol.dispose]();
});
