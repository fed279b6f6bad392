/** The statistics functions of the bench compute what their names say. */
import { expect, test } from 'bun:test';
import { median, quantile, ratio, slope } from './statistics.ts';

const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);

test('a quantile is the smallest sample that this share of the samples does not exceed', () => {
  expect([0, 0.5, 0.99, 1].map((share) => quantile(hundred, share))).toEqual([1, 50, 99, 100]);
  expect(quantile([7], 0.99)).toBe(7);
  expect(quantile([], 0.5)).toBeNaN();
});

test('a median lies in the middle, and the samples keep their order', () => {
  const samples = [9, 1, 4];
  expect(median(samples)).toBe(4);
  expect(median([...samples, 6])).toBe(5);
  expect(samples).toEqual([9, 1, 4]);
});

test('a ratio compares medians, so that one outlier does not count', () => {
  expect(ratio([2, 4, 1000], [2, 2, 2])).toBe(2);
});

test('a slope is the increase per step', () => {
  expect(slope([5, 7, 9, 11])).toBeCloseTo(2);
  expect(slope([3, 3, 3])).toBe(0);
  expect(slope([0, 3, 0])).toBeCloseTo(0);
});
