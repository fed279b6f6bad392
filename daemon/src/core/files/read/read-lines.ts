/** Reads a range of lines from a file that is too large for memory. */
import type { FileHandle } from 'node:fs/promises';
import type { TextEncoding } from './text-encoding.ts';

export interface LineRange {
  /** First line, counted from 0, or from the end if negative. */
  readonly from: number;
  /** Line to stop before, counted the same way; null is the end of the file. */
  readonly to: number | null;
  readonly encoding: TextEncoding;
}

export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

const pieceBytes = 256 * 1024;
const newline = 0x0a;

/** Finds where the lines are in the file, whose real size it returns too. */
export async function findLines(
  file: FileHandle,
  { from, to, encoding }: LineRange,
): Promise<ByteRange & { readonly lineCount: number; readonly size: number }> {
  const isFromEnd = from < 0 || (to !== null && to < 0);
  const known = isFromEnd ? (await scan(file, encoding, [])).lineCount : 0;
  const lineOf = (line: number) => (line < 0 ? Math.max(0, known + line) : line);
  const { lineCount, offsets, size } = await scan(file, encoding, [lineOf(from), to === null ? Infinity : lineOf(to)]);
  const [start = size, end = size] = offsets;
  return { start, end, lineCount, size };
}

/** Reads until the range or the file ends. */
export async function readRange(file: FileHandle, { start, end }: ByteRange): Promise<Buffer> {
  const bytes = Buffer.alloc(Math.max(0, end - start));
  for (let length = 0; length < bytes.length;) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, start + length);
    if (bytesRead === 0) return bytes.subarray(0, length);
    length += bytesRead;
  }
  return bytes;
}

/** The length of the whole lines that the bytes begin with; without a line end, that of the whole characters. */
export function wholeLength(bytes: Buffer, encoding: TextEncoding): number {
  let lines = 0;
  for (let end = lineEnd(bytes, 0, encoding); end !== -1; end = lineEnd(bytes, end, encoding)) lines = end;
  return lines || wholeCharacters(bytes, encoding);
}

function wholeCharacters(bytes: Buffer, encoding: TextEncoding): number {
  if (encoding === 'utf-8') {
    let lead = bytes.length - 1;
    while (lead > 0 && bytes.length - lead < 4 && (bytes[lead]! & 0xc0) === 0x80) lead--;
    const first = bytes[lead] ?? 0;
    const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
    return lead + length > bytes.length ? lead : bytes.length;
  }
  const even = bytes.length - (bytes.length % 2);
  const last = bytes[encoding === 'utf-16le' ? even - 1 : even - 2] ?? 0;
  return (last & 0xfc) === 0xd8 ? even - 2 : even; // The first half of a surrogate pair.
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
