/** A daemon works with a keeper that is older than itself, from before an upgrade. */
import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startInit } from '../../../../test/harness/keeper-init.ts';
import { Ownership } from '../../kit/ownership.ts';
import { knowsFrame, toKeeper } from './keeper-protocol.ts';
import { KeeperSpawn, type SpawnRequest } from './spawn.ts';

const directory = mkdtempSync(join(tmpdir(), 'boxkeep-older-keeper-'));
const inits: Bun.Subprocess[] = [];
afterAll(async () => {
  for (const init of inits) init.kill('SIGTERM');
  await Promise.all(inits.map(({ exited }) => exited));
  rmSync(directory, { recursive: true, force: true });
});

/** An init whose keepers have version 1 of the protocol, which has no CAP frame. */
async function startOlderInit(runtime: string) {
  mkdirSync(runtime, { mode: 0o700 });
  const init = await startInit(runtime, ['--keeper-version=1']);
  inits.push(init);
  return init;
}

const request: SpawnRequest = {
  plane: 'commands',
  note: {},
  input: null,
  argv: ['/bin/sh', '-c', 'echo first; read line; echo "$line"; exit 7'],
  env: { PATH: '/usr/bin:/bin' },
  cwd: '/',
  account: null,
  stdin: 'pipe',
  isAwaited: false,
  merge: false,
  capBytes: 1024,
  hardTimeoutMs: null,
  graceMs: 1000,
  limits: [],
};

test('every frame except CAP and FOLLOW is as old as the protocol', () => {
  const unknown = Object.values(toKeeper).filter((type) => !knowsFrame(1, type));
  expect(unknown).toEqual([toKeeper.cap, toKeeper.follow]);
});

test('a keeper of version 1 receives no frames that it does not know, and keeps working', async () => {
  const runtime = join(directory, 'runtime');
  const init = await startOlderInit(runtime);
  const faults: string[] = [];
  using spawn = new KeeperSpawn(runtime, new Ownership(), (name) => faults.push(name));
  const child = await spawn.start(request);
  child.cap(512);
  expect(await child.signal(0, 'leader')).toEqual({ processes: 1, errno: 0 });
  while (child.ends[0] < 'first\n'.length) {
    child.follow();
    await child.changed();
  }
  expect(child.readInto(Buffer.alloc(100), 0)).toMatchObject({ kind: 'bytes', bytes: Buffer.from('first\n') });
  await child.writeStdin(0, Buffer.from('second\n'));
  await child.closed();
  expect(child.end).toMatchObject({ kind: 'exited', exitCode: 7 });
  expect(child.log('stdout').read(0, 100)).toMatchObject({ kind: 'bytes', bytes: Buffer.from('first\nsecond\n') });
  expect(faults).toEqual([]);
  init.kill('SIGTERM');
  expect(await init.exited).toBe(0);
});
