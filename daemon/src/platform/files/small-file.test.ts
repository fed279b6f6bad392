/** Small files are opened by name in an open directory, and only when they are regular files. */
import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Directory } from './directory.ts';

const home = mkdtempSync(join(tmpdir(), 'boxkeep-small-file-'));
afterAll(() => rmSync(home, { recursive: true }));

test('a regular file is read up to the size of the buffer', async () => {
  writeFileSync(join(home, 'file'), 'content');
  await using directory = await Directory.open(home);
  using file = directory.openFileNow('file');
  const [short, long] = [Buffer.alloc(4), Buffer.alloc(20)];
  expect([file?.stat.size, file?.read(short), file?.read(long)]).toEqual([7n, 4, 7]);
  expect([short.toString(), long.toString('utf8', 0, 7)]).toEqual(['cont', 'content']);
});

test('a link, a directory, a pipe and a name that is gone are no small files, as when one replaces a file', async () => {
  symlinkSync('file', join(home, 'link'));
  mkdirSync(join(home, 'directory'));
  expect(Bun.spawnSync(['mkfifo', join(home, 'pipe')]).exitCode).toBe(0);
  await using directory = await Directory.open(home);
  for (const name of ['link', 'directory', 'pipe', 'gone'])
    expect([name, directory.openFileNow(name)]).toEqual([name, null]);
});

test('names that are not UTF-8, and names too long for the system, are passed on as they are', async () => {
  const name = 'a\udcff';
  writeFileSync(Buffer.concat([Buffer.from(`${home}/a`), Buffer.of(0xff)]), 'x');
  await using directory = await Directory.open(home);
  using file = directory.openFileNow(name);
  expect(file?.read(Buffer.alloc(2))).toBe(1);
  expect(() => directory.openFileNow('n'.repeat(5000))).toThrow('ENAMETOOLONG');
});

test('a failed read names the file', async () => {
  // No memory is mapped at address 0, so that reading there fails (proc(5)).
  await using directory = await Directory.open('/proc/self');
  using file = directory.openFileNow('mem');
  expect(() => file?.read(Buffer.alloc(1))).toThrow(expect.objectContaining({ path: '/proc/self/mem', code: 'EIO' }));
});
