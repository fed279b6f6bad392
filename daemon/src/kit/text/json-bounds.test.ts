/** Depth and values of JSON text: what is in strings does not count, and neither does a text that is cut. */
import { expect, test } from 'bun:test';
import { boundsWithin, outOfBounds } from './json-bounds.ts';

const isNestedDeeper = (text: string, maxDepth: number) =>
  outOfBounds(text, { maxDepth, maxValues: Infinity }) !== null;
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

test('values are counted as they stand in the text, keys and texts apart', () => {
  const text = JSON.stringify([1, 2, { key: [], other: '1,2,3,4,5,6,7,8,9' }]);
  const within = (maxValues: number) => outOfBounds(text, { maxDepth: 5, maxValues });
  expect([within(8), within(4)]).toEqual([null, 'has more than 4 values']);
});

test('a small machine has fewer values, and no machine more than two million', () => {
  const mebibyte = 1024 * 1024;
  expect([256, 1024 * 1024].map((mib) => boundsWithin(mib * mebibyte).maxValues)).toEqual([209_715, 2_000_000]);
});
