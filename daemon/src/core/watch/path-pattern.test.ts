/** Patterns have the same meaning as in shells and ignore files, and hostile patterns are not slow. */
import { expect, test } from 'bun:test';
import { PathPattern } from './path-pattern.ts';

const cases: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['node_modules', ['node_modules', 'a/node_modules'], ['node_modules2', 'node_modules/a']],
  ['*.pyc', ['a.pyc', 'x/y/.pyc'], ['a.py', 'a.pyc/b']],
  ['a?c', ['abc', 'x/aéc', 'a\u{1F3E0}c'], ['ac', 'abbc']],
  ['[a-c]x', ['ax', 'd/cx'], ['dx', 'x']],
  ['[!a-c]x', ['dx'], ['ax']],
  ['[]]x', [']x'], ['x']],
  ['[x', ['[x'], ['x']],
  ['\\*', ['*'], ['a']],
  ['*.{ts,js}', ['a.ts', 'b/a.js'], ['a.tsx', 'a.{ts,js}']],
  ['a{b,c{d,e}}', ['ab', 'acd', 'ace'], ['ac', 'a']],
  ['src/*.ts', ['src/a.ts'], ['a.ts', 'src/b/a.ts', 'x/src/a.ts']],
  ['/src', ['src'], ['a/src']],
  ['./src/a', ['src/a'], ['a']],
  ['src/', ['src', 'a/src'], ['src/a']],
  ['src/**', ['src', 'src/a', 'src/a/b'], ['a/src/b']],
  ['**/b/*', ['b/c', 'a/b/c', 'a/a/b/c'], ['b', 'b/c/d']],
  ['a/**/z', ['a/z', 'a/b/z', 'a/b/c/z'], ['a', 'a/b', 'z']],
  ['*', ['a', '.a', 'b/c', '\udcff'], []],
];

for (const [pattern, matching, others] of cases) {
  test(`${pattern} matches ${matching.join(' ')} and nothing else`, () => {
    const glob = new PathPattern(pattern);
    expect(matching.filter((path) => !glob.matches(path))).toEqual([]);
    expect(others.filter((path) => glob.matches(path))).toEqual([]);
  });
}

test('a pattern of many stars and many braces stays fast', () => {
  const startedMs = performance.now();
  expect(new PathPattern(`${'*a'.repeat(40)}b`).matches('a'.repeat(255))).toBe(false);
  expect(new PathPattern(`x/${'**/a/'.repeat(40)}b`).matches(`x/${'a/'.repeat(200)}c`)).toBe(false);
  expect(new PathPattern('{a,b}'.repeat(40)).matches('a'.repeat(40))).toBe(false);
  expect(performance.now() - startedMs).toBeLessThan(1000);
});
