/** Queries are parsed as on the Web platform, except for bytes that are not UTF-8. */
import { expect, test } from 'bun:test';
import { fc } from '../../../../test/harness/seed.ts';
import { queryOf, withoutParameter } from './query.ts';

test('any query of text parses as the platform parses it', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 12 });
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { maxLength: 4 }), (pairs) => {
      const url = new URL('http://h/p');
      for (const [name, value] of pairs) url.searchParams.append(name, value);
      const expected = Object.fromEntries(url.searchParams);
      delete expected['']; // "=value" has no name, so no route can read it.
      const { '': _nameless, ...read } = queryOf(url.href);
      expect(read).toEqual(expected);
    }),
  );
});

test('bytes that are not UTF-8 and invalid escapes are kept', () => {
  expect(queryOf('http://h/p?path=/tmp/%FF+a%2Bb&path2&x=100%')).toEqual({
    path: '/tmp/\udcff a+b',
    path2: '',
    x: '100%',
  });
});

test('a parameter is removed, and the others stay as they were written', () => {
  expect(withoutParameter('http://h/p?path=%FF&api%5Fkey=s&x=%2b', 'api_key')).toBe('http://h/p?path=%FF&x=%2b');
  expect(withoutParameter('http://h/p?api_key=s', 'api_key')).toBe('http://h/p');
});
