/** Tests how followers share output chunks and their memory. */
import { expect, test } from 'bun:test';
import { OutputChunk, OutputMemory, RecentChunks } from './output-chunk.ts';

function chunkAt(offset: number, onUnused: () => void = () => {}): OutputChunk {
  return new OutputChunk('stderr', offset, offset + 1, Buffer.from('x'), onUnused);
}

test('a chunk returns its memory once, when its last user disposes it', () => {
  const unused: string[] = [];
  const chunk = chunkAt(0, () => unused.push('given back'));
  const first = chunk.use();
  const second = chunk.use();
  first[Symbol.dispose]();
  expect([chunk.isUsed, unused]).toEqual([true, []]);
  second[Symbol.dispose]();
  expect([chunk.isUsed, unused]).toEqual([false, ['given back']]);
});

test('only the newest chunks are found again, and only while they are in use', () => {
  const recent = new RecentChunks();
  const chunks = Array.from({ length: 6 }, (_, index) => chunkAt(index));
  const uses = chunks.map((chunk) => {
    recent.add(`${chunk.offset}`, chunk);
    return chunk.use();
  });
  const found = () => chunks.map(({ offset }) => recent.find(`${offset}`)?.offset);
  expect(found()).toEqual([undefined, undefined, 2, 3, 4, 5]);
  uses[3]?.[Symbol.dispose]();
  expect(found()).toEqual([undefined, undefined, 2, undefined, 4, 5]);
});

test('returned buffers are reused, and only a few are kept', () => {
  const memory = new OutputMemory();
  const taken = Array.from({ length: 100 }, () => memory.take());
  expect(new Set(taken).size).toBe(100);
  for (const buffer of taken) memory.giveBack(buffer);
  const again = Array.from({ length: 100 }, () => memory.take());
  expect(again.filter((buffer) => taken.includes(buffer))).toHaveLength(4);
});
