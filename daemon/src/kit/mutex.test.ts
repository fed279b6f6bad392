/** Tests that a mutex admits its callers one at a time and in order. */
import { expect, test } from 'bun:test';
import { Mutex } from './mutex.ts';

test('callers are admitted one at a time, in the order of their arrival', async () => {
  const mutex = new Mutex();
  const admitted: number[] = [];
  const callers = [1, 2, 3].map(async (caller) => {
    expect(await mutex.acquire()).toBe(true);
    admitted.push(caller);
  });
  expect([mutex.isLocked, mutex.waiting]).toEqual([true, 2]);
  for (const caller of callers) {
    await caller;
    expect(admitted).toHaveLength(callers.indexOf(caller) + 1);
    mutex.release();
  }
  expect([admitted, mutex.isLocked]).toEqual([[1, 2, 3], false]);
});

test('a caller whose signal aborts leaves the queue, and the next caller is admitted', async () => {
  const mutex = new Mutex();
  await mutex.acquire();
  const giveUp = new AbortController();
  const first = mutex.acquire(giveUp.signal);
  const second = mutex.acquire();
  giveUp.abort();
  expect(await first).toBe(false);
  expect(await mutex.acquire(giveUp.signal)).toBe(false);
  mutex.release();
  expect([await second, mutex.waiting]).toEqual([true, 0]);
});
