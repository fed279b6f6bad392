/** The file that grows line by line, and the damage that it survives. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { LineFile } from './line-file.ts';

let directory = '';
let path = '';
const unexpected = (_path: string, error: unknown): void => {
  throw error;
};
const open = (onFault = unexpected) => new LineFile<number>(path, onFault);

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'boxkeep-lines-'));
  path = join(directory, 'lines');
});

afterEach(() => rmSync(directory, { recursive: true }));

test('appended lines are read in order until they are replaced', () => {
  expect(open().load()).toEqual([]);
  open().append([1, 2]);
  open().append([3]);
  expect(open().load()).toEqual([1, 2, 3]);
  open().replace([3]);
  open().append([4]);
  expect(open().load()).toEqual([3, 4]);
});

test('a truncated line is dropped, and no other line is lost', () => {
  open().append([1]);
  appendFileSync(path, '23');
  expect(open().load()).toEqual([1]);
  open().append([4]);
  expect(open().load()).toEqual([1, 4]);
});

test('a file with other content is reported and set aside', () => {
  writeFileSync(path, 'no JSON\n');
  const faults: string[] = [];
  expect(open((faulty) => void faults.push(faulty)).load()).toEqual([]);
  expect(faults).toEqual([path]);
  expect(readFileSync(`${path}.bad`, 'utf8')).toBe('no JSON\n');
  open().append([1]);
  expect(open().load()).toEqual([1]);
});

test('a line that does not fit leaves the file unchanged', () => {
  const before = 'x'.repeat(500);
  const module = join(import.meta.dir, 'line-file.ts');
  const script = `
    const { LineFile } = await import(${JSON.stringify(module)});
    const file = new LineFile(${JSON.stringify(path)}, () => {});
    file.append(['${before}']);
    try { file.append(['${before}']) } catch (error) { console.log(error.code) }`;
  // The limit of 512 bytes on the file size admits the start of the second line, then no further bytes.
  const limited = ['sh', '-c', 'trap "" XFSZ; ulimit -f 1; exec "$0" --eval "$1"', process.execPath, script];
  const { stdout, stderr } = Bun.spawnSync(limited);

  expect(`${stdout.toString()}${stderr.toString()}`).toBe('EFBIG\n');
  expect(readFileSync(path, 'utf8')).toBe(`"${before}"\n`);
});
