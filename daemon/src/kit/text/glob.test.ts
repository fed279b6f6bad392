/** The matcher agrees with a plain definition of globs, and no pattern makes it slow. */
import { expect, test } from 'bun:test';
import { fc } from '../../../../test/harness/seed.ts';
import { expandBraces, Glob, GlobError } from './glob.ts';

const options = { hasBraces: true, matchesHidden: true };

/** The definition of a match, short but slow. */
function matchesByDefinition(pattern: readonly string[], names: readonly string[]): boolean {
  const [first, ...others] = pattern;
  if (first === undefined) return names.length === 0;
  if (first === '**') {
    if (others.length === 0) return names.length > 0;
    return matchesByDefinition(others, names) || (names.length > 0 && matchesByDefinition(pattern, names.slice(1)));
  }
  return names.length > 0 && nameMatches(first, names[0] ?? '') && matchesByDefinition(others, names.slice(1));
}

function nameMatches(pattern: string, name: string): boolean {
  if (pattern === '') return name === '';
  if (pattern.startsWith('*')) {
    return nameMatches(pattern.slice(1), name) || (name !== '' && nameMatches(pattern, name.slice(1)));
  }
  const set = /^\[(!?)([a-c])-([a-c])\]/.exec(pattern);
  if (set) {
    const [whole, negated, low = '', high = ''] = set;
    const isIn = name !== '' && name.charAt(0) >= low && name.charAt(0) <= high;
    return name !== '' && isIn === (negated === '') && nameMatches(pattern.slice(whole.length), name.slice(1));
  }
  return (
    name !== '' &&
    (pattern.startsWith('?') || pattern.charAt(0) === name.charAt(0)) &&
    nameMatches(pattern.slice(1), name.slice(1))
  );
}

const piece = fc.constantFrom('a', 'b', 'c', '.', '*', '?', '[a-b]', '[!b-c]', 'ab');
const segment = fc.oneof(
  { weight: 4, arbitrary: fc.array(piece, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')) },
  { weight: 1, arbitrary: fc.constant('**') },
);
const pattern = fc.array(
  segment.filter((text) => text === '**' || !text.includes('**')),
  { minLength: 1, maxLength: 4 },
);
const names = fc.array(fc.stringMatching(/^[abc.]{1,5}$/), { minLength: 1, maxLength: 4 });

test('a path matches when the definition says so', () => {
  fc.assert(
    fc.property(pattern, names, (segments, path) => {
      const glob = new Glob(segments.join('/'), options);
      expect([segments, path, glob.matches(path)]).toEqual([segments, path, matchesByDefinition(segments, path)]);
    }),
    { numRuns: 5000 },
  );
});

test('a directory is skipped only when nothing below it can match', () => {
  fc.assert(
    fc.property(pattern, names, (segments, path) => {
      const glob = new Glob(segments.join('/'), { ...options, matchesHidden: false });
      let state = glob.start;
      let isMatch = false;
      let wasPruned = false;
      for (const name of path) {
        wasPruned ||= state.length === 0;
        ({ isMatch, next: state } = glob.step(state, name));
      }
      if (wasPruned) expect(isMatch).toBe(false);
    }),
    { numRuns: 2000 },
  );
});

test('only a literal dot matches a leading dot', () => {
  const matches = (text: string, path: string) =>
    new Glob(text, { ...options, matchesHidden: false }).matches(path.split('/'));
  for (const [text, path] of [
    ['*', '.a'],
    ['?a', '.a'],
    ['[.]a', '.a'],
    ['**/a', '.b/a'],
  ] as const) {
    expect([text, matches(text, path)]).toEqual([text, false]);
  }
  for (const [text, path] of [
    ['.*', '.a'],
    ['{.a,b}', '.a'],
    ['**/.b/a', 'x/.b/a'],
    ['\\.a', '.a'],
    ['é?', 'é😀'],
  ] as const) {
    expect([text, matches(text, path)]).toEqual([text, true]);
  }
});

test('braces are alternatives, also nested, but not inside a class or after a backslash', () => {
  expect(expandBraces('a{b,c{d,e}}f')).toEqual(['abf', 'acdf', 'acef']);
  expect(expandBraces('{a,}b')).toEqual(['ab', 'b']);
  expect(expandBraces('[{,}]\\{a')).toEqual(['[{,}]\\{a']);
  for (const text of ['{a', 'a}', 'a{b,{c}']) expect(() => expandBraces(text)).toThrow(GlobError);
});

test('no pattern is slow', () => {
  const startedMs = performance.now();
  const glob = new Glob(`${'*a'.repeat(500)}*b`, options);
  expect(glob.matches(['a'.repeat(5000)])).toBe(false);
  const deep = new Glob(`${'**/a/'.repeat(100)}b`, options);
  expect(deep.matches(Array.from({ length: 1000 }, () => 'a'))).toBe(false);
  expect(performance.now() - startedMs).toBeLessThan(5000);
});
