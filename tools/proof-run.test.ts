/** A proof runs its parts in their order, loses no failure, and makes shared needs once. */
import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parts } from './proof-parts.mjs';
import { chosenParts, ProofRun, readProofArguments } from './proof-run.mjs';
import { repositoryRoot } from './repository.mjs';
import { tiers } from './test-tiers.mjs';

interface Tier {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  readonly before: readonly (readonly string[])[];
}

const build = ['build.mjs'];
const some = [
  { name: 'one', proves: 'One.', files: ['a'], env: { A: '1' }, before: [build] },
  { name: 'two', proves: 'Two.', files: ['b'], before: [build, ['more.mjs']] },
  { name: 'three', proves: 'Three.', command: ['images.mjs', 'test'] },
  { name: 'four', proves: 'Four.', files: ['c'], before: [['more.mjs']] },
];

test('every part runs with the seed, whatever failed before, and the counts and figures are kept', async () => {
  const seen: unknown[] = [];
  const run = new ProofRun({
    runTests: (tier) => {
      const { name, env, before } = tier as Tier;
      seen.push([name, env, before]);
      const hasFailed = name === 'two';
      const reports = hasFailed ? ['-- two: lost'] : [];
      return Promise.resolve({ passed: 3, failed: hasFailed ? 2 : 0, reports, figures: { kills: 4 } });
    },
    runCommand: (command, env) => {
      seen.push([command, env]);
      return false;
    },
    print: () => undefined,
  });
  const { rows, ...total } = await run.all(some, { BOXKEEP_SEED: '7' });
  expect(seen).toEqual([
    ['one', { A: '1', BOXKEEP_SEED: '7' }, [build]],
    ['two', { BOXKEEP_SEED: '7' }, [['more.mjs']]],
    [['images.mjs', 'test'], { BOXKEEP_SEED: '7' }],
    ['four', { BOXKEEP_SEED: '7' }, [['more.mjs']]], // The part before this one has failed, perhaps for want of it.
  ]);
  expect(total).toEqual({ reports: ['-- two: lost', '-- three: images.mjs test failed'], passed: 9, failed: 3 });
  expect(rows[0]).toEqual({ name: 'one', proves: 'One.', seconds: 0, passed: 3, figures: { kills: 4 } });
});

test('words select parts and --seed gives the seed, in any order; what is neither is named', () => {
  expect(readProofArguments(['fuzz', '--seed', '7', 'chaos'])).toEqual({ seed: 7, words: ['fuzz', 'chaos'] });
  expect(readProofArguments([])).toEqual({ words: [] });
  for (const given of [['--seed'], ['--seed', 'x'], ['--seed', '0'], ['--seed', '2147483648']])
    expect(() => readProofArguments(given)).toThrow('is not a number from 1 to 2147483647');
  const names = (words: string[]) => chosenParts(some, words).map(({ name }) => name);
  expect(names([])).toEqual(['one', 'two', 'three', 'four']);
  expect(names(['four', 'o'])).toEqual(['one', 'two', 'four']);
  expect(() => names(['one', 'five'])).toThrow('no part is called five; there are: one, two, three, four');
});

test('the parts have names of their own and files that exist, and no tier of the proof is missing', () => {
  const names = parts.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const { name, files = [], command } of parts) {
    expect([name, files.length > 0 || command !== undefined]).toEqual([name, true]);
    for (const file of files) expect([file, existsSync(join(repositoryRoot, file))]).toEqual([file, true]);
  }
  const ofProof = tiers.flatMap(({ name }) => /^proof: (.*)/.exec(name)?.[1] ?? []);
  expect(names).toEqual(expect.arrayContaining(ofProof));
});
