/** No hint of core reaches a client of v1 with what only v2 has, and nothing is told otherwise that core no longer says. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Glob } from 'bun';
import { expect, test } from 'bun:test';
import { CoreError } from '../../kit/errors.ts';
import { hintOfV1, refusalOfV1, wording } from './wording.ts';

const root = join(import.meta.dir, '..', '..');
const lines = ['core', 'http', 'kit', 'platform']
  .flatMap((layer) => [...new Glob(`${layer}/**/*.ts`).scanSync(root)])
  .filter((path) => !path.endsWith('.test.ts'))
  .flatMap((path) => readFileSync(join(root, path), 'utf8').split('\n'));

test('each route of v2 that a hint names has its words here', () => {
  const naming = lines.filter((line) => /[A-Z]{3,6} \/v2\//.test(line));
  expect(naming.length).toBeGreaterThan(20);
  expect(naming.map(hintOfV1).filter((line) => line.includes('/v2'))).toEqual([]);
});

test('each of these words is said', () => {
  const isSaid = (words: string | RegExp) =>
    lines.some((line) => (typeof words === 'string' ? line.includes(words) : words.test(line)));
  expect(wording.filter(([core]) => !isSaid(core)).map(([core]) => String(core))).toEqual([]);
});

test('a refusal is told with the fields and the ids of v1, and is otherwise what it was', () => {
  const facts = { stage: 'cwd' };
  const refused = new CoreError('bad_argument', 'cwd /nowhere/cwd: No such file or directory', {
    hint: 'Create it first, or give another cwd.',
    facts,
  });
  expect(refusalOfV1(refused, { namesExecDir: true })).toMatchObject({
    code: 'bad_argument',
    message: 'exec_dir /nowhere/cwd: No such file or directory',
    hint: 'Create it first, or give another exec_dir.',
    facts,
  });
  expect(refusalOfV1(refused, { namesExecDir: false })).toMatchObject({ message: refused.message, hint: refused.hint });

  const id = `v1.${Buffer.from('my session').toString('base64url')}`;
  const busy = new CoreError('terminal_busy', `session ${id} runs "echo v1.2 session v1.abcd"`);
  expect(refusalOfV1(busy, { namesExecDir: true })).toMatchObject({
    message: 'session my session runs "echo v1.2 session v1.abcd"',
    hint: null,
    facts: null,
  });
});
