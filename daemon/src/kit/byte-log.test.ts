/** The read side of a stream: offsets are absolute, and gaps are reported. */
import { expect, test } from 'bun:test';
import { fc } from '../../../test/harness/seed.ts';
import { ByteLog, joinRanges, type Range } from './byte-log.ts';

function logOf(content: Uint8Array, holes: readonly Range[] = []): ByteLog {
  return new ByteLog({
    readAt: (offset, into) => {
      const part = content.subarray(offset, offset + into.length);
      into.set(part);
      return part.length;
    },
    holes: () => holes,
  });
}

/** Reads everything from an offset on, as a follower does. */
function readAll(log: ByteLog, from: number, limit: number) {
  const bytes: number[] = [];
  const gaps: Range[] = [];
  let at = from;
  for (let piece = log.read(at, limit); piece; piece = log.read(at, limit)) {
    if (piece.kind === 'gap') gaps.push({ from: piece.from, to: piece.to });
    else bytes.push(...piece.bytes);
    at = piece.kind === 'gap' ? piece.to : piece.offset + piece.bytes.length;
  }
  return { bytes, gaps, end: at };
}

test('a read past the end returns nothing', () => {
  expect(logOf(Buffer.from('abc')).read(3, 10)).toBeNull();
  expect(logOf(Buffer.from('abc')).read(99, 10)).toBeNull();
});

test('a read inside a hole returns the rest of the hole', () => {
  const log = logOf(Buffer.from('abcdef'), [{ from: 0, to: 4 }]);

  expect(log.read(1, 10)).toEqual({ kind: 'gap', from: 1, to: 4 });
  expect(log.read(4, 10)).toEqual({ kind: 'bytes', offset: 4, bytes: Buffer.from('ef') });
});

test('bytes that become a hole during a read are not returned', () => {
  let holes: Range[] = [];
  const log = new ByteLog({
    readAt: (_offset, into) => {
      holes = [{ from: 0, to: 8 }]; // The keeper evicts between the two reads.
      return into.length;
    },
    holes: () => holes,
  });

  expect(log.read(0, 4)).toEqual({ kind: 'gap', from: 0, to: 8 });
});

test('from any offset, with any holes and any limit: every byte once, or inside an announced gap', () => {
  const range = fc.tuple(fc.nat(60), fc.nat(60)).map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }));
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 60 }),
      fc.array(range, { maxLength: 4 }),
      fc.nat(70),
      fc.integer({ min: 1, max: 16 }),
      (content, ranges, from, limit) => {
        const holes = joinRanges(ranges);
        const isHole = (at: number) => holes.some((hole) => at >= hole.from && at < hole.to);
        const read = readAll(logOf(content, holes), from, limit);
        const kept = [...content.keys()].filter((at) => at >= from && !isHole(at)).map((at) => content[at] ?? -1);
        expect(read.bytes).toEqual(kept);
        for (const gap of read.gaps) expect(isHole(gap.from) && isHole(gap.to - 1)).toBe(true);
      },
    ),
  );
});

test('adjacent ranges are merged', () => {
  expect(
    joinRanges([
      { from: 5, to: 9 },
      { from: 0, to: 0 },
      { from: 0, to: 5 },
      { from: 20, to: 30 },
    ]),
  ).toEqual([
    { from: 0, to: 9 },
    { from: 20, to: 30 },
  ]);
});
