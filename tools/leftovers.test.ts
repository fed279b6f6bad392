/** Files and processes that a test run leaves are found, and those of others are not. */
import { afterAll, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestRun } from './leftovers.mjs';

const place = mkdtempSync(join(tmpdir(), 'boxkeep-test-'));
const [home, shared, groups] = ['home', 'shared', 'groups'].map((name) => join(place, name)) as [
  string,
  string,
  string,
];
for (const directory of [home, shared, groups]) mkdirSync(directory);
writeFileSync(join(home, '.settings'), 'kept');
afterAll(() => rmSync(place, { recursive: true }));

const startRun = () => new TestRun({ parent: place, home, shared: [shared, join(place, 'nowhere')], groups: [groups] });

test('names in the directories of the run are leftovers, and names that others make meanwhile are not', () => {
  const run = startRun();
  const { HOME, TMPDIR } = run.environment;
  if (HOME === undefined || TMPDIR === undefined) throw new Error('the run has no directories');
  expect(readFileSync(join(HOME, '.settings'), 'utf8')).toBe('kept');
  for (const name of ['.npm', '.cache']) mkdirSync(join(HOME, name), { recursive: true });
  writeFileSync(join(home, '.history'), ''); // A person uses the machine.
  for (const name of ['boxkeep-test-other', 'tmpjvsygq2c']) mkdirSync(join(shared, name));
  mkdirSync(join(groups, '0a1b2c3d-0000-4000-8000-000000000000'));
  expect(run.leftovers()).toEqual([]);

  writeFileSync(join(HOME, '.python_history'), '');
  mkdirSync(join(TMPDIR, 'tmpjvsygq2c'));
  mkdirSync(join(shared, `boxkeep-${run.id}-x`));
  mkdirSync(join(groups, `${run.id}-0000-4000-8000-000000000000`));
  expect(run.leftovers()).toEqual([
    join(TMPDIR, 'tmpjvsygq2c'),
    join(HOME, '.python_history'),
    join(shared, `boxkeep-${run.id}-x`),
    join(groups, `${run.id}-0000-4000-8000-000000000000`),
  ]);
});

test('the directories of a run end with it, and what they link to stays', () => {
  const run = startRun();
  run.remove();
  expect(Object.values(run.environment).some((path) => existsSync(path))).toBe(false);
  expect(existsSync(join(home, '.settings'))).toBe(true);
});

test('a process with a mark of the run is a leftover until it ends, and one of another run is not', async () => {
  const run = startRun();
  const start = (env: Record<string, string>) => Bun.spawn(['cat'], { stdin: 'pipe', env });
  const children = [start(run.environment), start({ BOXKEEP_TEST_ID: `${run.id}-0000` })];
  const other = start({ BOXKEEP_TEST_ID: '0a1b2c3d-0000' });
  const named = () => run.leftovers().toSorted();
  const expected = children.map(({ pid }) => `process ${pid} (cat)`).toSorted();
  // The new process has its own environment from the moment in which it becomes another program.
  while (!Bun.deepEquals(named(), expected)) await Bun.sleep(5);
  for (const { stdin } of [...children, other]) await stdin.end();
  await Promise.all([...children, other].map(({ exited }) => exited));
  expect(named()).toEqual([]);
});
