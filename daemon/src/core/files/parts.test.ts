/** What a dead daemon left is found and cleared, and nothing else. */
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
import { Directory } from '../../platform/directory.ts';
import { Parts } from './parts.ts';

let root = '';
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'sandboxd-parts-'))));
afterEach(() => rmSync(root, { recursive: true }));

const openParts = (): Parts => new Parts(join(root, 'notes'), (path) => Directory.open(path));
const notes = (): string[] => readdirSync(join(root, 'notes'));

/** A part with something in it, noted by a process that goes by this mark. */
async function leave(mark: string, content: 'file' | 'tree' = 'file'): Promise<string> {
  const { name } = await openParts().add(root);
  const path = join(root, name);
  if (content === 'file') writeFileSync(path, 'half');
  else mkdirSync(join(path, 'inner'), { recursive: true });
  const note = notes().find((each) => name.includes(each.split('-').at(-1) ?? ''));
  renameSync(join(root, 'notes', note ?? ''), join(root, 'notes', `${mark}-${note?.split('-').at(-1)}`));
  return path;
}

test('a part in its place has no note any more', async () => {
  const part = await openParts().add(root);
  expect(notes()).toHaveLength(1);
  expect(part.name).toMatch(/^\.svc-write-[0-9a-f]{16}\.part$/);
  await part.done();
  expect(notes()).toEqual([]);
});

test('parts of processes that are gone are cleared, also where another process has the number now', async () => {
  const dead = await leave('4194304.1');
  const reused = await leave(`${process.ppid}.1`, 'tree');
  await openParts().clearStale();
  expect([dead, reused].filter((path) => existsSync(path))).toEqual([]);
  expect(notes()).toEqual([]);
});

test('parts of a daemon that still ends its requests stay', async () => {
  const sleeper = Bun.spawn(['sleep', '100']);
  const stat = await Bun.file(`/proc/${sleeper.pid}/stat`).text();
  const kept = await leave(`${sleeper.pid}.${stat.split(') ')[1]?.split(' ')[19]}`);
  await openParts().clearStale();
  sleeper.kill();
  expect(existsSync(kept)).toBe(true);
  expect(notes()).toHaveLength(1);
});

test('a note that leads to anything but a part removes nothing, and one that cannot be cleared keeps no other', async () => {
  writeFileSync(join(root, 'precious'), '');
  mkdirSync(join(root, 'notes'));
  mkdirSync(join(root, 'notes/1.1-0a')); // No note can be read there.
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
