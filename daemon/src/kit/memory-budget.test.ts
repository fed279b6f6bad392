/** Which bodies are admitted, given the free memory and the bodies already admitted. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'bun:test';
import { MemoryBudget } from './memory-budget.ts';

const mebibyte = 1024 * 1024;

function roomOf(limitMib: number, freeMib = limitMib) {
  const memory = { limitBytes: limitMib * mebibyte, freeMib, collections: 0 };
  const room = new MemoryBudget({
    limitBytes: memory.limitBytes,
    freeBytes: () => memory.freeMib * mebibyte,
    collect: () => void memory.collections++,
  });
  return { room, memory };
}

function admit(room: MemoryBudget, mib: number) {
  const reservation = room.open();
  reservation.announced(mib * mebibyte);
  return reservation;
}

test('the body limit is a sixth of the memory, and at most 32 MiB', () => {
  expect([128, 192, 100_000].map((mib) => roomOf(mib).room.maxBytes / mebibyte)).toEqual([
    expect.closeTo(21.33, 2),
    32,
    32,
  ]);
});

test('four bodies of the largest size are admitted where memory allows, and small ones beside them', () => {
  const { room } = roomOf(100_000);
  for (let n = 0; n < 4; n++) admit(room, 32);
  expect(() => admit(room, 2)).toThrow('other requests occupy the memory for their content');
  admit(room, 1);
});

test('a body over 1 MiB is refused without free memory, minus what admitted bodies have yet to occupy', () => {
  const { room, memory } = roomOf(1000, 100);
  expect(() => admit(room, 31)).toThrow('this machine has no free memory for the content');
  admit(room, 15);
  expect(() => admit(room, 16)).toThrow('this machine has no free memory for the content');
  memory.freeMib = 0;
  admit(room, 1);
});

test('a body of unknown length is admitted piece by piece', () => {
  const { room } = roomOf(48);
  const reservation = room.open();
  reservation.piece(4 * mebibyte);
  reservation.piece(4 * mebibyte);
  expect(() => reservation.piece(1)).toThrow('other requests occupy the memory for their content');
});

test('the room of a large body is free after garbage collection', async () => {
  const { room, memory } = roomOf(48);
  const reservation = admit(room, 8);
  reservation.piece(8 * mebibyte);
  reservation[Symbol.dispose]();
  expect(() => admit(room, 4)).toThrow('other requests');
  await nextTurn();
  expect(memory.collections).toBe(1);
  admit(room, 8);
});

test('work that holds much waits for its room in the order of the calls, and gets the whole room at most', async () => {
  const { room, memory } = roomOf(200);
  const { signal } = new AbortController();
  const order: string[] = [];
  const work = async (name: string, mib: number) => {
    using _held = await room.admitInTurn(mib * mebibyte, signal);
    order.push(name);
    await nextTurn();
    order.push(`end of ${name}`);
  };
  using body = admit(room, 1);
  await Promise.all([work('first', 40), work('second', 40), work('whole', 10_000), work('last', 30)]);
  const ends = ['end of first', 'end of second'];
  expect(order).toEqual(['first', 'second', ...ends, 'whole', 'end of whole', 'last', 'end of last']);
  expect(memory.collections).toBeGreaterThan(0);
  expect(body.arrivedBytes).toBe(0);
});

test('work that waits for room is refused when its caller gives up', async () => {
  const { room } = roomOf(200);
  const caller = new AbortController();
  using _held = await room.admitInTurn(100 * mebibyte, caller.signal);
  const refusals = [1, 2].map(() => room.admitInTurn(100 * mebibyte, caller.signal).catch(String));
  caller.abort();
  for (const refusal of await Promise.all(refusals)) expect(refusal).toContain('other work occupies the memory');
});

test('large bodies are processed one after the other, also after a failure', async () => {
  const { room } = roomOf(1000);
  const order: string[] = [];
  const first = room.inTurn(async () => {
    await nextTurn();
    order.push('first');
    throw new Error('of the first alone');
  });
  const second = room.inTurn(async () => order.push('second'));
  expect(await first.catch(String)).toBe('Error: of the first alone');
  await second;
  expect(order).toEqual(['first', 'second']);
});

test('the queue keeps no body after its work is done', async () => {
  const { room } = roomOf(1000);
  const parsed = await (async () => new WeakRef(await room.inTurn(async () => ({ content: 'of one request' }))))();
  await nextTurn(); // A WeakRef holds its target until the end of the turn.
  Bun.gc(true);
  expect(parsed.deref()).toBeUndefined();
});
