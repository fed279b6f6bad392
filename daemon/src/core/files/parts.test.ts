/** The daemon finds and removes the parts of dead daemons, and nothing else. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Directory } from '../../platform/files/directory.ts';
import { clearPart, Parts } from './parts.ts';

let root = '';
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'boxkeep-parts-'))));
afterEach(() => rmSync(root, { recursive: true }));

const openParts = (): Parts => new Parts(join(root, 'notes'), (path) => Directory.open(path));
const notes = (): string[] => readdirSync(join(root, 'notes'));

/** Creates a part with content, noted by a process with this mark. */
async function leave(mark: string, content: 'file' | 'tree' = 'file'): Promise<string> {
  const { name } = await openParts().add(root);
  const path = join(root, name);
  if (content === 'file') writeFileSync(path, 'half');
  else mkdirSync(join(path, 'inner'), { recursive: true });
  const note = notes().find((each) => name.includes(each.split('-').at(-1) ?? ''));
  renameSync(join(root, 'notes', note ?? ''), join(root, 'notes', `${mark}-${note?.split('-').at(-1)}`));
  return path;
}

test('a committed part has no note', async () => {
  const part = await openParts().add(root);
  expect(notes()).toHaveLength(1);
  expect(part.name).toMatch(/^\.svc-write-[0-9a-f]{16}\.part$/);
  await part.done();
  expect(notes()).toEqual([]);
});

test('parts of dead processes are removed, also where another process has the same pid now', async () => {
  const dead = await leave('4194304.1');
  const reused = await leave(`${process.ppid}.1`, 'tree');
  await openParts().clearStale();
  expect([dead, reused].filter((path) => existsSync(path))).toEqual([]);
  expect(notes()).toEqual([]);
});

test('parts of a daemon that still finishes its requests stay', async () => {
  const sleeper = Bun.spawn(['sleep', '100']);
  const stat = await Bun.file(`/proc/${sleeper.pid}/stat`).text();
  const kept = await leave(`${sleeper.pid}.${stat.split(') ')[1]?.split(' ')[19]}`);
  await openParts().clearStale();
  sleeper.kill();
  expect(existsSync(kept)).toBe(true);
  expect(notes()).toHaveLength(1);
});

test('a note that does not point to a part removes nothing, and a note that cannot be read does not block the others', async () => {
  writeFileSync(join(root, 'precious'), '');
  mkdirSync(join(root, 'notes'));
  mkdirSync(join(root, 'notes/1.1-0a')); // No note can be read at this path.
  symlinkSync(join(root, 'precious'), join(root, 'notes/4194304.1-0b'));
  symlinkSync(join(root, 'gone/.svc-write-0123456789abcdef.part'), join(root, 'notes/4194304.1-0c'));
  const left = await leave('4194304.2');
  const failure = await openParts()
    .clearStale()
    .catch((error: unknown) => error);
  expect(String(failure)).toContain('EINVAL');
  expect(existsSync(join(root, 'precious'))).toBe(true);
  expect(existsSync(left)).toBe(false);
  expect(notes()).toEqual(['1.1-0a']);
});

test('a part leaves no note when another process removes the same directory', async () => {
  for (let round = 0; round < 100; round++) {
    const home = join(root, `home-${round}`);
    mkdirSync(home);
    const part = await openParts().add(home);
    for (let n = 0; n < 6; n++) {
      const inner = join(home, part.name, `${n}/a/b`);
      mkdirSync(inner, { recursive: true });
      for (let file = 0; file < 5; file++) writeFileSync(join(inner, `${file}`), '');
    }
    await using directory = await Directory.open(home);
    const remover = Bun.spawn(['rm', '-rf', home]);
    await clearPart({ directory, name: part.name }, part, 'delete');
    await remover.exited;
  }
  expect(notes()).toEqual([]);
});
