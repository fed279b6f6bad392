/** Depth of JSON text: brackets in strings do not count, and neither does a text that is cut. */
import { expect, test } from 'bun:test';
import { isNestedDeeper } from './json-depth.ts';

const nested = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`;

test('only brackets outside of strings count', () => {
  expect(isNestedDeeper(nested(5), 5)).toBe(false);
  expect(isNestedDeeper(nested(6), 5)).toBe(true);
  expect(isNestedDeeper('{"a":{"b":[{"c":[[1]]}]}}', 5)).toBe(true);
  expect(isNestedDeeper(JSON.stringify({ text: '[[[[[["\\', more: '{{{{{{\\"' }), 2)).toBe(false);
  expect(isNestedDeeper(`[${'[],'.repeat(1000)}[]]`, 2)).toBe(false);
  expect(isNestedDeeper(`"${'['.repeat(1000)}`, 2)).toBe(false);
});

test('brackets behind a large string count', () => {
  const text = JSON.stringify({ data: 'x'.repeat(8 * 1024 * 1024), after: [[1]] });
  expect(isNestedDeeper(text, 1)).toBe(true);
  expect(isNestedDeeper(text, 3)).toBe(false);
});
