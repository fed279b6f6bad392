/** What is run, counted and told of many tiers: no failure is lost, and what several need is made once. */
import { expect, test } from 'bun:test';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { TestQueue } from './test-queue.mjs';

const files = {
  'good.test.ts': `import { expect, test } from 'bun:test'; test('good', () => expect(process.env.KIND).toBe('one'));`,
  'crash.test.ts': `
    import { afterAll, test } from 'bun:test';
    test('fine', () => 0);
    afterAll(async () => {
      setTimeout(() => { throw new Error('lost'); }, 0);
      await Bun.sleep(10);
    });`,
  'empty.test.ts': `export const nothing = 1;`,
  'skipped.test.ts': `import { test } from 'bun:test'; test.skip('not here', () => 0);`,
  'place.test.ts': `
    import { appendFileSync } from 'node:fs';
    import { test } from 'bun:test';
    test('place', async () => {
      appendFileSync('places', process.env.JEST_WORKER_ID + '\\n');
      while ((await Bun.file('places').text()).split('\\n').length < 3) await Bun.sleep(5);
    });`,
  'make.mjs': `import { appendFileSync } from 'node:fs'; appendFileSync('made', 'x');`,
  'fail.mjs': `process.exit(1);`,
};

async function inFolder(check: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'queue-'));
  try {
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
    await check(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('files of several tiers are counted together, with what fails in and outside of tests', () =>
  inFolder(async (folder) => {
    const before = [['make.mjs']];
    const [good, skipped] = ['good.test.ts', 'skipped.test.ts'];
    const tiers = [
      { name: 'one', files: [good], waitingFiles: [skipped], env: { KIND: 'one' }, before },
      { name: 'two', files: [good, 'empty.test.ts', 'crash.test.ts'], env: { KIND: 'two' }, before },
      { name: 'spoilt', files: [good, skipped], env: {}, before: [['fail.mjs']] },
      { name: 'bare', files: [], env: {}, before: [] },
    ];
    const { passed, failed, told } = await new TestQueue(tiers, { root: folder, print: () => undefined }).run(2);
    expect({ passed, failed }).toEqual({ passed: 2, failed: 5 });
    expect(told.map((text) => text.split('\n')[0]?.replace(/ \[.*ms\]$/, '')).toSorted()).toEqual([
      '-- bare: it has no tests',
      '-- spoilt: fail.mjs failed',
      '-- two: good.test.ts: good',
      '-- two: no test ran in empty.test.ts',
      '-- two: the runner of crash.test.ts ended with 1',
    ]);
    expect(await readFile(join(folder, 'made'), 'utf8')).toBe('x');
  }));

test('files that run at the same time have different numbers', () =>
  inFolder(async (folder) => {
    const tier = { name: 'both', files: ['place.test.ts'], waitingFiles: ['place.test.ts'] };
    expect(await new TestQueue([tier], { root: folder, print: () => undefined }).run(1)).toEqual({
      passed: 2,
      failed: 0,
      told: [],
    });
    expect((await readFile(join(folder, 'places'), 'utf8')).trim().split('\n').toSorted()).toEqual(['1', '2']);
  }));
