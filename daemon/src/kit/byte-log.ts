/** The read side of one output stream: absolute offsets in, bytes or an announced gap out. */

/** A half-open range of stream offsets. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export type Piece =
  | { readonly kind: 'bytes'; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly kind: 'gap'; readonly from: number; readonly to: number };

export interface LogSource {
  /** Reads what is stored at an offset; 0 at the end. */
  readAt(offset: number, into: Uint8Array): number;
  /** What is no longer kept, in order, without overlaps. Asked after the bytes were read. */
  holes(): readonly Range[];
}

export class ByteLog {
  constructor(private readonly source: LogSource) {}

  /** The same as `readInto`, with memory of its own. */
  read(offset: number, limit: number): Piece | null {
    return this.readInto(Buffer.allocUnsafe(limit), offset);
  }

  /**
   * The piece that starts at `offset`, at most as much of it as `buffer` holds; null when there is nothing past it.
   * Its bytes are those of the buffer.
   *
   * Bytes are read before the holes are: a range is declared a hole before its bytes go, so what a
   * later look at the holes does not name was still whole when it was read.
   */
  readInto(buffer: Uint8Array, offset: number): Piece | null {
    const count = this.source.readAt(offset, buffer);
    const next = this.source.holes().find((hole) => hole.to > offset);
    if (next && next.from <= offset) return { kind: 'gap', from: offset, to: next.to };
    const end = next ? Math.min(offset + count, next.from) : offset + count;
    return end > offset ? { kind: 'bytes', offset, bytes: buffer.subarray(0, end - offset) } : null;
  }
}

/** Sorted, and joined where they touch. */
export function joinRanges(ranges: readonly Range[]): Range[] {
  const joined: Range[] = [];
  for (const range of ranges.filter(({ from, to }) => to > from).toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last && range.from <= last.to) joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, range.to) };
    else joined.push(range);
  }
  return joined;
}
