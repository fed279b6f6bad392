/** What a command has printed, as plain text: without escape sequences, and with lines that end as they were printed. */
import { cutMarker, decodeUtf8, takeCharacters, wholeUtf8Length } from '../../kit/text.ts';
import type { TerminalLog } from './terminal-log.ts';

/** Characters of an answer that is cut. */
export const mostCharacters = 30_000;
/** Bytes that are looked at for it at either end: more than enough for as many characters, each of four bytes. */
const cutWindowBytes = 128 * 1024;
/** The same for an answer that is not to be cut: what is longer is. */
const wholeWindowBytes = 4 * 1024 * 1024;
/** Kept in memory of a long one. */
const headBytes = 64 * 1024;

export interface OutputText {
  readonly text: string;
  readonly isTruncated: boolean;
}

/** A string or a sequence that steers a terminal; a command that leaves one unfinished keeps it as text. */
const escapes =
  // oxlint-disable-next-line no-control-regex -- it is about control characters
  /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]+[0-~]|[0-OQ-WYZ\\`-~])/g;

export interface OutputRange {
  readonly from: number;
  readonly to: number;
  /** The beginning of it, where that was kept apart. */
  readonly head: Buffer | null;
}

/** Of the bytes from one offset to another. */
export function readOutput(log: TerminalLog, { from, to, head }: OutputRange, isCut: boolean): OutputText {
  const window = isCut ? cutWindowBytes : wholeWindowBytes;
  const isLost = log.head > from;
  if (!isLost && to - from <= 2 * window) return shorten(plainText(readRange(log, from, to)), false, isCut);
  const start = isLost ? (head ?? Buffer.alloc(0)) : readRange(log, from, from + window);
  const kept = start.subarray(0, wholeUtf8Length(start));
  const tail = fromWholeCharacter(readRange(log, Math.max(from + kept.length, log.head, to - window), to));
  const marker = cutMarker(to - from - kept.length - tail.length);
  return shorten(`${plainText(kept)}${marker}${plainText(tail)}`, true, isCut);
}

/** Of output that is about to be longer than what its log keeps. */
export function readHead(log: TerminalLog, from: number): Buffer {
  return readRange(log, from, from + headBytes);
}

export function plainText(bytes: Uint8Array): string {
  return decodeUtf8(bytes).replace(escapes, '').replaceAll('\r\n', '\n');
}

/** The middle of it goes. */
function shorten(text: string, isTruncated: boolean, isCut: boolean): OutputText {
  if (!isCut) return { text, isTruncated };
  const whole = takeCharacters(text, mostCharacters, 'start');
  if (whole.length === text.length) return { text, isTruncated };
  const marker = cutMarker(Buffer.byteLength(text) - mostCharacters);
  const half = Math.floor((mostCharacters - marker.length) / 2);
  const [start, end] = [takeCharacters(text, half, 'start'), takeCharacters(text, half, 'end')];
  return { text: `${start}${marker}${end}`, isTruncated: true };
}

function fromWholeCharacter(bytes: Uint8Array): Uint8Array {
  const start = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return bytes.subarray(Math.max(0, start));
}

/** What is still kept of it. */
function readRange(log: TerminalLog, from: number, to: number): Buffer {
  const buffer = Buffer.allocUnsafe(Math.max(0, to - from));
  let [at, length] = [from, 0];
  using _open = log.use();
  while (at < to) {
    const piece = log.readInto(buffer.subarray(length, length + to - at), at);
    if (!piece) break;
    if (piece.kind === 'bytes') length += piece.bytes.length;
    at = piece.kind === 'gap' ? piece.to : at + piece.bytes.length;
  }
  return buffer.subarray(0, length);
}
