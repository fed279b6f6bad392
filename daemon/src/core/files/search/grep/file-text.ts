/** Reads an open file as text with bounded memory: in pieces of whole lines, and a line of more than a million characters in parts. */
import { readSync } from 'node:fs';
import { decodePath } from '../../../../kit/text/path-text.ts';
import { wholeUtf8Length } from '../../../../kit/text/text.ts';
import { encodingOf } from '../../read/text-encoding.ts';
import { longestSearchedLine } from './query.ts';

export interface TextPiece {
  readonly text: string;
  /** False for a later part of a long line. */
  readonly startsLine: boolean;
  /** False for a part of a long line that goes on. */
  readonly endsLine: boolean;
  /** Whether the piece contains a NUL byte, which text does not. */
  readonly hasNul: boolean;
}

const readBytes = 256 * 1024;

/** Reads until the end of the file, because procfs and sysfs files report a size of 0 and other files may grow. */
export function* textPieces(descriptor: number, size: number): Generator<TextPiece> {
  let bytes = readPiece(descriptor, Math.min(size + 1, readBytes));
  const decoder = decoderFor(bytes);
  let rest = '';
  let isWithin = false;
  for (let isLast = false; !isLast;) {
    const next = readPiece(descriptor, readBytes);
    isLast = next.length === 0;
    const { text: added, hasNul } = decoder.decode(bytes, isLast);
    bytes = next;
    let text = rest + added;
    if (isWithin) {
      const end = text.indexOf('\n') + 1 || text.length;
      isWithin = !isLast && text[end - 1] !== '\n';
      yield { text: text.slice(0, end), startsLine: false, endsLine: !isWithin, hasNul };
      text = text.slice(end);
    }
    const end = isLast ? text.length : text.lastIndexOf('\n') + 1;
    if (end > 0) yield { text: text.slice(0, end), startsLine: true, endsLine: true, hasNul };
    else if (hasNul) yield { text: '', startsLine: true, endsLine: true, hasNul };
    rest = text.slice(end);
    if (rest.length <= longestSearchedLine) continue;
    yield { text: rest, startsLine: true, endsLine: false, hasNul };
    rest = '';
    isWithin = true;
  }
}

function readPiece(descriptor: number, room: number): Buffer {
  const buffer = Buffer.allocUnsafe(room);
  return buffer.subarray(0, readSync(descriptor, buffer, 0, room, null));
}

interface PieceDecoder {
  decode(bytes: Buffer, isLast: boolean): { readonly text: string; readonly hasNul: boolean };
}

function decoderFor(start: Buffer): PieceDecoder {
  const encoding = encodingOf(start);
  if (encoding === 'utf-8') return new Utf8Decoder();
  const decoder = new TextDecoder(encoding);
  return {
    decode(bytes, isLast) {
      const text = decoder.decode(bytes, { stream: !isLast });
      return { text, hasNul: text.includes('\0') };
    },
  };
}

const byteOrderMark = Buffer.of(0xef, 0xbb, 0xbf);

class Utf8Decoder implements PieceDecoder {
  #rest: Buffer | null = null;
  #isFirst = true;

  decode(bytes: Buffer, isLast: boolean): { text: string; hasNul: boolean } {
    const hasMark = this.#isFirst && bytes.subarray(0, 3).equals(byteOrderMark);
    this.#isFirst = false;
    const all = this.#rest ? Buffer.concat([this.#rest, bytes]) : hasMark ? bytes.subarray(3) : bytes;
    const end = isLast ? all.length : wholeUtf8Length(all);
    this.#rest = end === all.length ? null : Buffer.from(all.subarray(end));
    return { text: decodeText(all.subarray(0, end)), hasNul: bytes.includes(0) };
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Bytes that are not UTF-8 become lone surrogates. */
export function decodeText(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return decodeLines(bytes); // Some bytes are not UTF-8.
  }
}

/** Decodes line by line, because only lines with invalid bytes are slow to decode. */
function decodeLines(bytes: Buffer): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(0x0a, at);
    const next = end === -1 ? bytes.length : end + 1;
    lines.push(decodePath(bytes.subarray(at, next)));
    at = next;
  }
  return lines.join('');
}
