/** When the files of evicted commands are deleted. */
import { expect, test } from 'bun:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { EvictedFiles } from './evicted-files.ts';

function recorder() {
  const deleted: number[] = [];
  const faults: unknown[] = [];
  const files = new EvictedFiles((error) => faults.push(error));
  const add = (id: number, error: Error | null = null) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    files.add({
      forget() {
        deleted.push(id);
        resolve();
        if (error) throw error;
      },
    });
    return promise;
  };
  return { add, deleted, faults, files };
}

test('V2CMD-RETIRE a start deletes the files of one evicted command, in the next turn', async () => {
  const { add, deleted, files } = recorder();
  void add(1);
  void add(2);
  files.deleteNext();
  expect(deleted).toEqual([]);

  await nextTurn();
  expect(deleted).toEqual([1]);
  files.deleteAll();
});

test('V2CMD-RETIRE files are deleted without a start too, and each failure is reported', async () => {
  const { add, deleted, faults, files } = recorder();
  const full = new Error('read-only');
  void add(1, full);
  await add(2);

  expect(deleted).toEqual([1, 2]);
  expect(faults).toEqual([full]);
  files.deleteAll();
  expect(deleted).toEqual([1, 2]);
});
