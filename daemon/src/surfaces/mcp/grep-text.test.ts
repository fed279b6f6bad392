/** How matches of a search read: paths and shared context once, gaps marked. */
import { expect, test } from 'bun:test';
import { grepText } from './grep-text.ts';

const match = (file: string, number: number, content: string, before: string[] = [], after: string[] = []) => {
  return { file, line_number: number, line_content: content, context_before: before, context_after: after };
};

test('a path is printed once above its matches', () => {
  expect(grepText([match('/a', 1, 'x'), match('/a', 9, 'x y'), match('/b', 2, 'x')])).toBe('/a\n1:x\n9:x y\n/b\n2:x');
  expect(grepText([])).toBe('');
});

test('lines between two matches are printed once, a matching line as a match, and gaps are marked', () => {
  const near = [match('/a', 2, 'x2', ['1'], ['x3']), match('/a', 3, 'x3', ['x2'], ['4']), match('/a', 7, 'x7', ['6'])];
  expect(grepText(near)).toBe('/a\n1-1\n2:x2\n3:x3\n4-4\n--\n6-6\n7:x7');
});

test('a match across lines numbers each of its lines', () => {
  expect(grepText([match('/a', 4, 'one\ntwo', ['zero'], ['three'])])).toBe('/a\n3-zero\n4:one\n5:two\n6-three');
});
