/**
 * Debounced changes are reported in order, are merged only where clients need no distinction, and always become due.
 */
import { expect, test } from 'bun:test';
import type { Change } from './change.ts';
import { Pending } from './pending.ts';

type Short = readonly [type: Change['type'], path: string, more?: Partial<Change>];

function eventsOf(...changes: readonly Short[]): string[] {
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

test('several writes are one event, and so is a create with its writes', () => {
  expect(eventsOf(['write', 'a'], ['write', 'b'], ['write', 'a'])).toEqual(['write a', 'write b']);
  expect(eventsOf(['create', 'a'], ['write', 'a'], ['chmod', 'a'])).toEqual(['create a']);
  expect(eventsOf(['write', 'a'], ['chmod', 'a'], ['chmod', 'a'], ['write', 'a'])).toEqual(['write a', 'chmod a']);
});

test('a file that was created and removed gives no event, a file that existed before gives remove', () => {
  expect(eventsOf(['create', 'a'], ['write', 'a'], ['remove', 'a'])).toEqual([]);
  expect(eventsOf(['write', 'a'], ['chmod', 'a'], ['remove', 'a'])).toEqual(['remove a']);
  expect(eventsOf(['create', 'a', { mayReplace: true }], ['remove', 'a'])).toEqual(['remove a']);
  expect(eventsOf(['write', 'a'], ['create', 'a', { mayReplace: true }])).toEqual(['create a']);
  expect(eventsOf(['remove', 'a'], ['create', 'a'])).toEqual(['remove a', 'create a']);
  expect(eventsOf(['remove', 'a'], ['create', 'a'], ['remove', 'a'])).toEqual(['remove a']);
});

test('events of a path before a rename stay separate from later ones', () => {
  expect(eventsOf(['create', 'a'], ['rename', 'b', { oldPath: 'a' }], ['remove', 'b'])).toEqual([
    'create a',
    'rename a b',
    'remove b',
  ]);
  expect(
    eventsOf(
      ['write', 'd/x'],
      ['rename', 'e', { oldPath: 'd', ...directory }],
      ['create', 'd', directory],
      ['write', 'd/x'],
    ),
  ).toEqual(['write d/x', 'rename d e', 'create d', 'write d/x']);
});

test('a directory that is removed with its content leaves no pending event', () => {
  expect(
    eventsOf(
      ['create', 'd', directory],
      ['create', 'd/x'],
      ['remove', 'd', { ...directory, isWhole: true }],
      ['create', 'd', directory],
      ['create', 'd/x'],
    ),
  ).toEqual(['create d', 'create d/x', 'remove d', 'create d', 'create d/x']);
});

test('each event waits for its own delay, whatever arrives meanwhile', () => {
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

test('events that cancel each other use no memory', () => {
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
