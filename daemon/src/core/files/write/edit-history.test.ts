/** Limits of the edit history: entries per file, and total size, including edits without an old text. */
import { expect, test } from 'bun:test';
import { EditHistory } from './edit-history.ts';

test('the last twenty edits of a file are kept', () => {
  const history = new EditHistory();
  for (let i = 0; i < 25; i++) history.add('file', { old: { text: `${i}`, encoding: 'utf-8' }, etag: `${i}` });
  const kept: (string | null)[] = [];
  for (let last = history.last('file'); last; last = history.last('file')) {
    kept.unshift(last.old?.text ?? null);
    history.takeBack('file', 'now');
  }
  expect(kept).toEqual(Array.from({ length: 20 }, (_, i) => `${i + 5}`));
});

test('the oldest edits are evicted when all edits together are too large', () => {
  const history = new EditHistory();
  for (const key of ['a', 'b', 'c'])
    history.add(key, { old: { text: 'x'.repeat(12 * 1024 * 1024), encoding: 'utf-8' }, etag: '' });
  expect(['a', 'b', 'c'].map((key) => history.last(key) !== null)).toEqual([false, true, true]);
});

test('the number of created files in the history is bounded', () => {
  const history = new EditHistory();
  for (let i = 0; i < 140_000; i++) history.add(`${i}`, { old: null, etag: '' });
  expect([history.last('0'), history.last('139999')?.old]).toEqual([null, null]);
  const kept = Array.from({ length: 140_000 }, (_, i) => history.last(`${i}`)).filter((one) => one !== null);
  expect(kept.length).toBe((32 * 1024 * 1024) / 256);
});
