/** Reads a range of a log, across pieces and gaps. */
import { joinRanges, type Piece, type Range } from '../../kit/byte-log.ts';

/** One stream of a process, or everything that a terminal session has shown. */
export interface ReadableLog {
  readInto(buffer: Uint8Array, offset: number): Piece | null;
}

export interface LogPart {
  readonly bytes: Uint8Array;
  /** The offset to continue from. */
  readonly next: number;
  /** Ranges that were skipped because they are no longer kept. */
  readonly gaps: readonly Range[];
}

/** Reads what is kept of the range, at most `maxBytes`. Stops early where the log ends. */
export function readLog(log: ReadableLog, from: number, to: number, maxBytes = Infinity): LogPart {
  const parts: Uint8Array[] = [];
  const gaps: Range[] = [];
  let [next, length] = [from, 0];
  while (next < to && length < maxBytes) {
    const piece = log.readInto(Buffer.allocUnsafe(Math.min(maxBytes - length, to - next)), next);
    if (!piece) break;
    const end = piece.kind === 'gap' ? Math.min(piece.to, to) : next + piece.bytes.length;
    if (piece.kind === 'gap') gaps.push({ from: next, to: end });
    else {
      parts.push(piece.bytes);
      length += piece.bytes.length;
    }
    next = end;
  }
  return { bytes: joinBytes(parts), next, gaps: joinRanges(gaps) };
}

/** Does not copy a single part. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
}
