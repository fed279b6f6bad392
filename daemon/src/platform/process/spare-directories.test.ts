/** Directories of forgotten commands are reused for later commands, and no content carries over. */
import { expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runtimeWithInit } from '../../../../test/harness/keeper-init.ts';
import { Ownership } from '../../kit/ownership.ts';
import type { Child } from './child.ts';
import { KeeperSpawn } from './spawn.ts';

const { directory } = await runtimeWithInit('spare-directories');
const commandsDirectory = join(directory, 'commands');
const open = () => new KeeperSpawn(directory, new Ownership(), (name, error) => expect([name, error]).toBeNull());

/** As another daemon does when it takes over: the spare directories of this one are not commands. */
function emptySpares(): void {
  for (const name of readdirSync(commandsDirectory)) rmSync(join(commandsDirectory, name), { recursive: true });
}

/** Runs a script until its keeper has exited. */
async function run(spawn: KeeperSpawn, script: string, text = 'note'): Promise<Child> {
  const child = await spawn.start({
    plane: 'commands',
    note: { text },
    input: null,
    argv: ['/bin/sh', '-c', script],
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
    account: null,
    stdin: 'null',
    isAwaited: true,
    merge: false,
    capBytes: 1024,
    hardTimeoutMs: null,
    graceMs: 1000,
    limits: [],
  });
  await child.closed();
  while (child.isAttached) await child.changed();
  return child;
}

test('a command reuses the directory and journal of a forgotten command, and sees nothing of its content', async () => {
  using spawn = open();
  const first = await run(spawn, 'echo secret; echo error >&2; echo more; exit 3', 'a long note of the first');
  const files = (child: Child) =>
    ['', '/meta.json', '/journal'].map((file) => statSync(child.directory.path + file).ino);
  const before = files(first);
  first.forget();
  expect(existsSync(first.directory.path)).toBe(false);
  const [name = ''] = readdirSync(commandsDirectory);
  expect(readdirSync(join(commandsDirectory, name)).toSorted()).toEqual(['meta.json', 'old-journal']);

  const second = await run(spawn, 'exit 5', 'brief');
  expect(files(second)).toEqual(before);
  expect(readdirSync(second.directory.path).toSorted()).toEqual(['journal', 'meta.json']);
  expect(second.end).toMatchObject({ kind: 'exited', exitCode: 5 });
  expect([second.ends, second.log('stdout').read(0, 100), second.directory.note()]).toEqual([
    [0, 0],
    null,
    '{"plane":"commands","text":"brief"}',
  ]);
  expect(second.directory.journal()).toMatchObject({ exit: { exitCode: 5 }, end: [0, 0], isClosed: true });
  const meta = join(second.directory.path, 'meta.json');
  const size = statSync(meta).size;
  expect(readFileSync(meta, 'utf8')).toBe('{"plane":"commands","text":"brief"}'.padEnd(size, '\n'));
  second.forget();
});

test('a directory that is still being read is not reused, nor one that an earlier daemon made', async () => {
  using spawn = open();
  emptySpares();
  const read = await run(spawn, 'echo read');
  const reading = read.directory.use();
  expect(read.log('stdout').read(0, 100)).not.toBeNull();
  read.forget();
  expect(read.log('stdout').read(0, 100)).toMatchObject({ bytes: Buffer.from('read\n') });
  reading[Symbol.dispose]();

  const large = await run(spawn, 'true', 'large '.repeat(1000));
  large.forget(); // The next command would write as much again.
  const old = await run(spawn, 'echo old');
  using next = open();
  const { commands: recovered } = await next.recover();
  expect(recovered.map(({ child }) => child.directory.path)).toEqual([old.directory.path]);
  recovered[0]?.child.forget();
  expect([existsSync(read.directory.path), existsSync(old.directory.path)]).toEqual([false, false]);
  expect(readdirSync(commandsDirectory)).toEqual([]);
});

test('only a few spare directories are kept, and one that vanished is created again', async () => {
  using spawn = open();
  const children = await Promise.all(Array.from({ length: 24 }, () => run(spawn, 'true')));
  for (const child of children) child.forget();
  expect(readdirSync(commandsDirectory)).toHaveLength(16);
  emptySpares();
  const child = await run(spawn, 'exit 4');
  expect(child.end).toMatchObject({ kind: 'exited', exitCode: 4 });
  child.forget();
});

test('a spare directory that a crashed daemon leaves is not a command, and is removed', async () => {
  const journal = '{"v":1}\n{"event":"exited","exit_code":7}\n{"event":"closed","exit_code":7}\n';
  const steps = [
    { 'meta.json': '{"plane":"commands","text":"of an ended command"}', 'old-journal': journal },
    { 'meta.json': '{"plane":"commands","text":"of the next command"}\n\n', 'old-journal': journal },
    { 'meta.json': '{"plane":"commands","text":"half of the', 'old-journal': journal },
  ];
  for (const [index, files] of steps.entries()) {
    mkdirSync(join(commandsDirectory, `run_${index}`));
    for (const [name, text] of Object.entries(files))
      writeFileSync(join(commandsDirectory, `run_${index}`, name), text);
  }
  using spawn = open();
  expect(Object.values(await spawn.recover()).flat()).toEqual([]);
  expect(readdirSync(commandsDirectory)).toEqual([]);
});
