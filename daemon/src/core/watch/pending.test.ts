/** What waits for the debounce is told in order, merged where nobody would tell the difference, and never held for ever. */
import { expect, test } from 'bun:test';
import type { Change } from './change.ts';
import { Pending } from './pending.ts';

type Short = readonly [type: Change['type'], path: string, more?: Partial<Change>];

function told(...changes: readonly Short[]): string[] {
  const pending = new Pending(100);
  for (const [at, [type, path, more]] of changes.entries()) {
    pending.add({ type, path, oldPath: null, isDirectory: false, atMs: at, ...more });
  }
  const size = pending.size;
  const taken = pending.take(null);
  expect(taken.length).toBe(size);
  expect(pending.size).toBe(0);
  return taken.map(({ type, path, oldPath }) => `${type} ${oldPath === null ? '' : `${oldPath} `}${path}`);
}

const directory = { isDirectory: true };

test('writes are one, and so is a create with its writes', () => {
  expect(told(['write', 'a'], ['write', 'b'], ['write', 'a'])).toEqual(['write a', 'write b']);
  expect(told(['create', 'a'], ['write', 'a'], ['chmod', 'a'])).toEqual(['create a']);
  expect(told(['write', 'a'], ['chmod', 'a'], ['chmod', 'a'], ['write', 'a'])).toEqual(['write a', 'chmod a']);
});

test('a file that came and went is nothing, one that was there is removed', () => {
  expect(told(['create', 'a'], ['write', 'a'], ['remove', 'a'])).toEqual([]);
  expect(told(['write', 'a'], ['chmod', 'a'], ['remove', 'a'])).toEqual(['remove a']);
  expect(told(['create', 'a', { mayReplace: true }], ['remove', 'a'])).toEqual(['remove a']);
  expect(told(['write', 'a'], ['create', 'a', { mayReplace: true }])).toEqual(['create a']);
  expect(told(['remove', 'a'], ['create', 'a'])).toEqual(['remove a', 'create a']);
  expect(told(['remove', 'a'], ['create', 'a'], ['remove', 'a'])).toEqual(['remove a']);
});

test('what is told of a path before a rename stays apart from what comes after it', () => {
  expect(told(['create', 'a'], ['rename', 'b', { oldPath: 'a' }], ['remove', 'b'])).toEqual([
    'create a',
    'rename a b',
    'remove b',
  ]);
  expect(
    told(
      ['write', 'd/x'],
      ['rename', 'e', { oldPath: 'd', ...directory }],
      ['create', 'd', directory],
      ['write', 'd/x'],
    ),
  ).toEqual(['write d/x', 'rename d e', 'create d', 'write d/x']);
});

test('a directory that goes with all that is in it leaves nothing of it behind', () => {
  expect(
    told(
      ['create', 'd', directory],
      ['create', 'd/x'],
      ['remove', 'd', { ...directory, isWhole: true }],
      ['create', 'd', directory],
      ['create', 'd/x'],
    ),
  ).toEqual(['create d', 'create d/x', 'remove d', 'create d', 'create d/x']);
});

test('each waits for its time, whatever comes meanwhile', () => {
  const pending = new Pending(100);
  const change = (path: string, atMs: number): Change => ({
    type: 'write',
    path,
    oldPath: null,
    isDirectory: false,
    atMs,
  });
  pending.add(change('a', 0));
  pending.add(change('b', 60));
  pending.add(change('a', 90));
  expect(pending.dueMs).toBe(100);
  expect(pending.take(99)).toEqual([]);
  expect(pending.take(100).map(({ path }) => path)).toEqual(['a']);
  expect(pending.dueMs).toBe(160);
  expect(pending.take(1000).map(({ path }) => path)).toEqual(['b']);
  expect(pending.dueMs).toBe(null);
});

test('what came to nothing takes no room', () => {
  const pending = new Pending(100);
  const change = (type: Change['type'], atMs: number): Change => ({
    type,
    path: 'a',
    oldPath: null,
    isDirectory: false,
    atMs,
  });
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 200_000; i += 1) {
    pending.add(change('create', 0));
    pending.add(change('remove', 0));
  }
  expect(pending.size).toBe(0);
  Bun.gc(true);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(8 * 1024 * 1024);
});
