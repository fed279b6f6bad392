/** How much of the past is kept: some of each file, and so much of all together, without a text too. */
import { expect, test } from 'bun:test';
import { EditHistory } from './edit-history.ts';

test('the last twenty of a file are kept', () => {
  const history = new EditHistory();
  for (let i = 0; i < 25; i++) history.add('file', { oldText: `${i}`, etag: `${i}` });
  const kept: (string | null)[] = [];
  for (let last = history.last('file'); last; last = history.last('file')) {
    kept.unshift(last.oldText);
    history.takeBack('file', 'now');
  }
  expect(kept).toEqual(Array.from({ length: 20 }, (_, i) => `${i + 5}`));
});

test('what was edited longest ago goes first when all together is too much', () => {
  const history = new EditHistory();
  for (const key of ['a', 'b', 'c']) history.add(key, { oldText: 'x'.repeat(12 * 1024 * 1024), etag: '' });
  expect(['a', 'b', 'c'].map((key) => history.last(key) !== null)).toEqual([false, true, true]);
});

test('files that were created are not kept without end', () => {
  const history = new EditHistory();
  for (let i = 0; i < 140_000; i++) history.add(`${i}`, { oldText: null, etag: '' });
  expect([history.last('0'), history.last('139999')?.oldText]).toEqual([null, null]);
  const kept = Array.from({ length: 140_000 }, (_, i) => history.last(`${i}`)).filter((one) => one !== null);
  expect(kept.length).toBe((32 * 1024 * 1024) / 256);
});
