/** Files and processes that a test run leaves are found, and no others are. */
import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Leftovers } from './leftovers.mjs';

const home = mkdtempSync(join(tmpdir(), 'boxkeep-test-'));
afterAll(() => rmSync(home, { recursive: true }));

test('a new name in the root is a leftover, and in a shared directory only a name that the tests use', () => {
  const [whole, shared] = ['whole', 'shared'].map((name) => join(home, name)) as [string, string];
  for (const place of [whole, shared]) mkdirSync(place);
  writeFileSync(join(whole, 'old'), '');
  mkdirSync(join(shared, 'boxkeep-test-old'));
  const leftovers = new Leftovers({ whole: [whole, join(home, 'nowhere')], shared: [shared], groups: [], marks: [] });
  expect(leftovers.find()).toEqual([]);

  writeFileSync(join(whole, 'lock'), '');
  for (const name of ['boxkeep-test-new', 'tmpjvsygq2c', 'of-another-program']) mkdirSync(join(shared, name));
  expect(leftovers.find().toSorted()).toEqual([
    join(shared, 'boxkeep-test-new'),
    join(shared, 'tmpjvsygq2c'),
    join(whole, 'lock'),
  ]);
});

test('a process that a test has started is a leftover until it ends', async () => {
  const leftovers = new Leftovers({ whole: [], shared: [], groups: [], marks: ['LEFTOVERS_TEST'] });
  const child = Bun.spawn(['cat'], { stdin: 'pipe', env: { LEFTOVERS_TEST: 'one' } });
  const other = Bun.spawn(['cat'], { stdin: 'pipe', env: {} });
  const isChild = (text: string) => text === `process ${child.pid} (cat)`;
  // The new process has its own environment from the moment in which it becomes another program.
  while (!leftovers.find().some(isChild)) await Bun.sleep(5);
  expect(leftovers.find().some((text) => text.includes(String(other.pid)))).toBe(false);
  for (const { stdin } of [child, other]) await stdin.end();
  await Promise.all([child.exited, other.exited]);
  expect(leftovers.find().some(isChild)).toBe(false);
});
