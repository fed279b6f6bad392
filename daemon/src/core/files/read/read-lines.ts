/** Reads a range of lines from a file that is too large for memory. */
import type { FileHandle } from 'node:fs/promises';
import type { TextEncoding } from './text-encoding.ts';

export interface LineRange {
  /** First line, counted from 0, or from the end if negative. */
  readonly from: number;
  /** Line to stop before, counted the same way; null is the end of the file. */
  readonly to: number | null;
  readonly maxBytes: number;
  readonly encoding: TextEncoding;
  /** Called with the size of the lines before they are read; throws to refuse. */
  readonly admit: (bytes: number) => void;
}

const pieceBytes = 256 * 1024;
const newline = 0x0a;

/** `bytes` is null when the lines are longer than `maxBytes`. */
export async function readLines(
  file: FileHandle,
  { from, to, maxBytes, encoding, admit }: LineRange,
): Promise<{ readonly bytes: Buffer | null; readonly lineCount: number }> {
  const isFromEnd = from < 0 || (to !== null && to < 0);
  const known = isFromEnd ? (await scan(file, encoding, [])).lineCount : 0;
  const lineOf = (line: number) => (line < 0 ? Math.max(0, known + line) : line);
  const { lineCount, offsets, size } = await scan(file, encoding, [lineOf(from), to === null ? Infinity : lineOf(to)]);
  const [start = size, end = size] = offsets;
  if (end - start > maxBytes) return { bytes: null, lineCount };
  admit(Math.max(0, end - start));
  const bytes = Buffer.alloc(Math.max(0, end - start));
  const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
  return { bytes: bytes.subarray(0, bytesRead), lineCount };
}

/** Counts the lines and finds the start of each wanted line. A missing line starts at the end of the file. */
async function scan(
  file: FileHandle,
  encoding: TextEncoding,
  wanted: readonly number[],
): Promise<{ readonly lineCount: number; readonly offsets: readonly number[]; readonly size: number }> {
  const buffer = Buffer.allocUnsafe(pieceBytes);
  const starts = new Map<number, number>([[0, 0]]);
  const unitBytes = encoding === 'utf-8' ? 1 : 2;
  let [line, size, isWhole] = [0, 0, true];
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, pieceBytes, size);
    if (bytesRead === 0) break;
    // A character of two bytes is read whole; half a character can only be the end of the file.
    const piece = buffer.subarray(0, bytesRead > 1 ? bytesRead - (bytesRead % unitBytes) : bytesRead);
    isWhole = false;
    for (let end = lineEnd(piece, 0, encoding); end !== -1; end = lineEnd(piece, end, encoding)) {
      line += 1;
      if (wanted.includes(line)) starts.set(line, size + end);
      isWhole = end === piece.length;
    }
    size += piece.length;
  }
  const offsets = wanted.map((each) => starts.get(each) ?? size);
  return { lineCount: isWhole ? line : line + 1, offsets, size };
}

/** The position behind the next newline, or -1. */
function lineEnd(piece: Buffer, from: number, encoding: TextEncoding): number {
  if (encoding === 'utf-8') return piece.indexOf(newline, from) + 1 || -1;
  const [low, high] = encoding === 'utf-16le' ? [0, 1] : [1, 0];
  for (let at = piece.indexOf(newline, from); at !== -1; at = piece.indexOf(newline, at + 1)) {
    const start = at - low;
    if (start % 2 === 0 && piece[start + high] === 0) return start + 2;
  }
  return -1;
}
