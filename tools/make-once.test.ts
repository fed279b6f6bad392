/** A cached directory is made once for concurrent processes, and made again for another word. */
import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeOnce } from './make-once.mjs';

const place = mkdtempSync(join(tmpdir(), 'make-once-'));
afterAll(() => rmSync(place, { recursive: true }));

/** Takes a moment, and appends a line for each run. */
const script = (directory: string): string => `
  import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
  import { makeOnce } from ${JSON.stringify(join(import.meta.dirname, 'make-once.mjs'))};
  await makeOnce(${JSON.stringify(directory)}, 'word', () => {
    appendFileSync(${JSON.stringify(`${directory}.made`)}, 'made\\n');
    mkdirSync(${JSON.stringify(directory)});
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    writeFileSync(${JSON.stringify(join(directory, 'result'))}, 'whole');
  });
  process.stdout.write((await Bun.file(${JSON.stringify(join(directory, 'result'))}).text()));`;

test('concurrent callers all get the whole directory, which is made once', async () => {
  const directory = join(place, 'shared');
  const all = Array.from({ length: 3 }, () => Bun.spawn([process.execPath, '-e', script(directory)]));
  expect(await Promise.all(all.map(({ stdout }) => stdout.text()))).toEqual(['whole', 'whole', 'whole']);
  expect(readFileSync(`${directory}.made`, 'utf8')).toBe('made\n');
});

test('another word makes the directory again, and so does a failure', async () => {
  const directory = join(place, 'again');
  const made: string[] = [];
  const make = async (word: string, fails = false) =>
    await makeOnce(directory, word, () => {
      made.push(word);
      mkdirSync(directory);
      if (fails) throw new Error('no network');
    });
  expect(await make('one', true).catch(String)).toBe('Error: no network');
  for (const word of ['one', 'one', 'two']) await make(word);
  expect(made).toEqual(['one', 'one', 'two']);
});
