/** The read side of one output stream: returns bytes at an absolute offset, or reports a gap. */

/** A half-open range of stream offsets. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export type Piece =
  | { readonly kind: 'bytes'; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly kind: 'gap'; readonly from: number; readonly to: number };

export interface LogSource {
  /** Reads stored bytes at an offset; returns 0 at the end. */
  readAt(offset: number, into: Uint8Array): number;
  /** Ranges that are no longer retained, in order, without overlaps. Called after the bytes were read. */
  holes(): readonly Range[];
}

export class ByteLog {
  constructor(private readonly source: LogSource) {}

  /** Like `readInto`, with a buffer of its own. */
  read(offset: number, limit: number): Piece | null {
    return this.readInto(Buffer.allocUnsafe(limit), offset);
  }

  /**
   * The piece that starts at `offset`, limited by the size of `buffer`; null when nothing lies past the offset. The
   * returned bytes are a view of the buffer.
   *
   * The bytes are read before the holes. The writer declares a range as a hole before it discards the bytes. Bytes
   * outside the holes of a later look were therefore intact when they were read.
   */
  readInto(buffer: Uint8Array, offset: number): Piece | null {
    const count = this.source.readAt(offset, buffer);
    const next = this.source.holes().find((hole) => hole.to > offset);
    if (next && next.from <= offset) return { kind: 'gap', from: offset, to: next.to };
    const end = next ? Math.min(offset + count, next.from) : offset + count;
    return end > offset ? { kind: 'bytes', offset, bytes: buffer.subarray(0, end - offset) } : null;
  }

  /** The parts of the range that are no longer retained, in order. */
  gaps({ from, to }: Range): Range[] {
    const holes = this.source.holes().filter((hole) => hole.from < to && hole.to > from);
    return holes.map((hole) => ({ from: Math.max(from, hole.from), to: Math.min(to, hole.to) }));
  }
}

/** Sorts ranges and joins those that touch. */
export function joinRanges(ranges: readonly Range[]): Range[] {
  const joined: Range[] = [];
  for (const range of ranges.filter(({ from, to }) => to > from).toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last && range.from <= last.to) joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, range.to) };
    else joined.push(range);
  }
  return joined;
}
