/** Reads of ranges with gaps, and at the end of a log. */
import { expect, test } from 'bun:test';
import { ByteLog } from '../../kit/byte-log.ts';
import { readLog } from './read-log.ts';

const stored = Buffer.from('0123456789');
const log = new ByteLog({
  readAt: (offset, into) => stored.copy(into, 0, offset, offset + into.length),
  holes: () => [
    { from: 0, to: 2 },
    { from: 5, to: 7 },
  ],
});

function read(from: number, to: number, maxBytes?: number) {
  const { bytes, ...rest } = readLog(log, from, to, maxBytes);
  return { text: Buffer.from(bytes).toString(), ...rest };
}

test('a range with gaps returns its kept bytes and names the gaps', () => {
  const gaps = [
    { from: 0, to: 2 },
    { from: 5, to: 7 },
  ];
  expect(read(0, 9)).toEqual({ text: '23478', next: 9, gaps });
});

test('a gap ends where the range ends', () => {
  expect(read(3, 6)).toEqual({ text: '34', next: 6, gaps: [{ from: 5, to: 6 }] });
});

test('a read stops at its limit and at the end of the log', () => {
  expect(read(2, 10, 2)).toEqual({ text: '23', next: 4, gaps: [] });
  expect(read(8, 100)).toEqual({ text: '89', next: 10, gaps: [] });
  expect(read(10, 100)).toEqual({ text: '', next: 10, gaps: [] });
});
