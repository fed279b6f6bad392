/** Keepers keep their sockets between commands; a daemon that takes over takes no command for another one. */
import { expect, test } from 'bun:test';
import { existsSync, linkSync, readdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runtimeWithInit } from '../../../../test/harness/keeper-init.ts';
import { Ownership } from '../../kit/ownership.ts';
import type { Child } from './child.ts';
import { KeeperSpawn } from './spawn.ts';

const { directory } = await runtimeWithInit('keeper-names');
const names = join(directory, 'keepers');
const open = () => new KeeperSpawn(directory, new Ownership(), (name, error) => expect([name, error]).toBeNull());

function start(spawn: KeeperSpawn, script: string): Promise<Child> {
  return spawn.start({
    plane: 'commands',
    note: { script },
    argv: ['/bin/sh', '-c', script],
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
    account: null,
    stdin: 'pipe',
    capBytes: 1024,
    graceMs: 1000,
  });
}

async function end(child: Child): Promise<void> {
  child.closeStdin(0);
  await child.closed();
  while (child.isAttached) await child.changed();
}

test('names of keepers that live are kept, others are removed', async () => {
  using spawn = open();
  await end(await start(spawn, 'exit 1')); // The first keeper reports that it can be reused.
  const child = await start(spawn, 'read line');
  const kept = readdirSync(names);
  expect(kept).toHaveLength(1);
  const ended = Bun.spawn(['true']);
  await ended.exited;
  writeFileSync(join(names, String(ended.pid)), '');
  using _next = open();
  expect(readdirSync(names)).toEqual(kept);
  await end(child);
});

test('a keeper that holds the next command does not answer for the ended one', async () => {
  using spawn = open();
  await end(await start(spawn, 'exit 1'));
  const ended = await start(spawn, 'read line; exit 7');
  await end(ended);
  const running = await start(spawn, 'read line; exit 8');
  const [keeper = ''] = readdirSync(names);
  await spawn.release(new AbortController().signal);
  // What a daemon sees that has found the name of the socket just before the keeper removed it.
  const control = join(ended.directory.path, 'control');
  linkSync(join(names, keeper), control);
  process.kill(Number(keeper), 'SIGSTOP');
  using next = open();
  const recovering = next.recover();
  unlinkSync(control);
  process.kill(Number(keeper), 'SIGCONT');
  const { commands } = await recovering;
  const found = Object.fromEntries(commands.map(({ note, child }) => [String(note['script']), child]));
  expect(found['read line; exit 7']?.end).toMatchObject({ kind: 'exited', exitCode: 7 });
  const other = found['read line; exit 8'];
  expect([other?.end, other?.pid]).toEqual([null, running.pid]);
  other?.closeStdin(0);
  await other?.closed();
  expect(other?.end).toMatchObject({ kind: 'exited', exitCode: 8 });
  expect(existsSync(control)).toBe(false);
});
