/** Walks byte ranges of both streams, cuts them, and reads them in pieces. */
import type { Range } from '../../kit/byte-log.ts';
import { cutMarker, wholeUtf8Length } from '../../kit/text/text.ts';
import type { StreamName } from '../../kit/types/stream-name.ts';
import type { Child } from '../../platform/process/spawn.ts';
import type { Segment } from './arrival-order.ts';
import { chunkBytes } from './output-chunk.ts';

export type Segments = Iterable<Segment>;

/** The bytes from position `from` up to `to` of all segments together. */
export function* partOf(segments: Segments, from: number, to: number): Generator<Segment> {
  let at = 0;
  for (const segment of segments) {
    if (at >= to) return;
    const length = Math.max(0, segment.to - segment.from);
    const [start, end] = [Math.max(0, from - at), Math.min(length, to - at)];
    if (end > start) yield { stream: segment.stream, from: segment.from + start, to: segment.from + end };
    at += length;
  }
}

export function lengthOf(segments: Segments): number {
  let length = 0;
  for (const { from, to } of segments) length += Math.max(0, to - from);
  return length;
}

/** The parts of segments that were retained when the walk began. */
export function* keptOf(child: Child, segments: Segments): Generator<Segment> {
  const all = { from: 0, to: Infinity };
  const gaps: Record<StreamName, readonly Range[]> = {
    stdout: child.log('stdout').gaps(all),
    stderr: child.log('stderr').gaps(all),
  };
  for (const { stream, from, to } of segments) {
    let next = from;
    for (const gap of gaps[stream]) {
      if (gap.to <= next || gap.from >= to) continue;
      if (gap.from > next) yield { stream, from: next, to: gap.from };
      next = gap.to;
    }
    if (next < to) yield { stream, from: next, to };
  }
}

/**
 * Reads segments in pieces of whole characters; a piece is valid until the next one is requested. Output that is
 * evicted meanwhile is announced in the text.
 */
export function* piecesOf(child: Child, segments: Segments): Generator<Uint8Array> {
  using _open = child.directory.use();
  const buffer = Buffer.allocUnsafeSlow(chunkBytes);
  for (const { stream, from, to } of segments) {
    const log = child.log(stream);
    for (let next = from; next < to;) {
      const piece = log.readInto(buffer.subarray(0, to - next), next);
      if (piece?.kind === 'bytes') {
        const { bytes } = piece;
        const isLast = next + bytes.length === to;
        const whole = isLast ? bytes : bytes.subarray(0, wholeUtf8Length(bytes) || bytes.length);
        yield whole;
        next += whole.length;
      } else {
        const end = Math.min(piece?.to ?? to, to);
        yield Buffer.from(cutMarker(end - next));
        next = end;
      }
    }
  }
}
