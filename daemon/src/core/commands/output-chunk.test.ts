/** Pieces of output that followers share. */
import { expect, test } from 'bun:test';
import { OutputChunk, RecentChunks } from './output-chunk.ts';

test('what readers make of a piece is made once for each form', () => {
  const chunk = new OutputChunk('stdout', 0, Buffer.from('abc'));
  let made = 0;
  const upperCase = () => chunk.form('upper', () => `${Buffer.from(chunk.bytes).toString().toUpperCase()}${++made}`);
  expect([upperCase(), upperCase(), chunk.form('length', () => chunk.bytes.length)]).toEqual(['ABC1', 'ABC1', 3]);
});

test('only the newest pieces are found again', () => {
  const recent = new RecentChunks();
  const chunks = Array.from({ length: 6 }, (_, index) => new OutputChunk('stderr', index, Buffer.from('x')));
  for (const chunk of chunks) recent.add(`${chunk.offset}`, chunk);
  expect(chunks.map(({ offset }) => recent.find(`${offset}`)?.offset)).toEqual([undefined, undefined, 2, 3, 4, 5]);
});
