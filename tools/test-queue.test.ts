/** The queue runs and counts all tiers, loses no failure, and makes shared needs once. */
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
  'counts.test.ts': `
    import { test } from 'bun:test';
    for (const figures of [{ kills: 2 }, { kills: 3, MiB: 1.5 }])
      test('counts', () => console.log(JSON.stringify({ figures })));`,
  'make.mjs': `import { appendFileSync } from 'node:fs'; appendFileSync('made', 'x');`,
  'fail.mjs': `console.error('no network'); process.exit(1);`,
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

test('files of several tiers are counted together, with failures inside and outside of tests', () =>
  inFolder(async (folder) => {
    const before = [['make.mjs']];
    const [good, skipped] = ['good.test.ts', 'skipped.test.ts'];
    const tiers = [
      { name: 'one', files: [good], waitingFiles: [skipped], env: { KIND: 'one' }, before },
      { name: 'two', files: [good, 'empty.test.ts', 'crash.test.ts'], env: { KIND: 'two' }, before },
      { name: 'spoilt', files: [good, skipped], env: {}, before: [['fail.mjs']] },
      { name: 'bare', files: [], env: {}, before: [] },
    ];
    const { passed, failed, reports } = await new TestQueue(tiers, { root: folder, print: () => undefined }).run(2);
    expect({ passed, failed }).toEqual({ passed: 2, failed: 5 });
    expect(reports.map((text) => text.split('\n')[0]?.replace(/ \[.*ms\]$/, '')).toSorted()).toEqual([
      '-- bare: it has no tests',
      '-- spoilt: fail.mjs failed',
      '-- two: good.test.ts: good',
      '-- two: no test ran in empty.test.ts',
      '-- two: the runner of crash.test.ts ended with 1',
    ]);
    expect(reports).toContain('-- spoilt: fail.mjs failed\nno network');
    expect(await readFile(join(folder, 'made'), 'utf8')).toBe('x');
  }));

test('concurrent files have different numbers', () =>
  inFolder(async (folder) => {
    const tier = { name: 'both', files: ['place.test.ts'], waitingFiles: ['place.test.ts'] };
    expect(await new TestQueue([tier], { root: folder, print: () => undefined }).run(1)).toEqual({
      passed: 2,
      failed: 0,
      reports: [],
      figures: {},
    });
    expect((await readFile(join(folder, 'places'), 'utf8')).trim().split('\n').toSorted()).toEqual(['1', '2']);
  }));

test('each finished file is reported with its number, its seconds and its counts, and a failure with its output', () =>
  inFolder(async (folder) => {
    const printed: string[] = [];
    const tier = { name: 'one', files: ['good.test.ts', 'skipped.test.ts'], env: { KIND: 'two' } };
    await new TestQueue([tier], { root: folder, print: (text) => printed.push(text) }).run(1);
    const lines = printed.join('\n').split('\n');
    expect(lines[0]).toMatch(/^\[1\/2\] good \d+ s, 0 passed, 1 failed \(one\)$/);
    expect(lines.some((line) => line.includes('Expected: "one"'))).toBe(true);
    expect(lines.at(-2)).toMatch(/^\[2\/2\] skipped \d+ s, 0 passed, 1 skipped \(one\)$/);
    expect(lines.at(-1)).toContain('(skip) not here');
  }));

test('what the tests have counted is added up', () =>
  inFolder(async (folder) => {
    const tier = { name: 'one', files: ['counts.test.ts', 'counts.test.ts'] };
    const { figures } = await new TestQueue([tier], { root: folder, print: () => undefined }).run(1);
    expect(figures).toEqual({ kills: 10, MiB: 3 });
  }));
