/** Converts the output of a command to plain text, as a whole and as it arrives. */
import { constants } from 'node:os';
import type { Range } from '../../../kit/byte-log.ts';
import { cutMarker, decodeUtf8, takeCharacters, wholeUtf8Length } from '../../../kit/text/text.ts';
import { readLog } from '../../processes/read-log.ts';
import { Sequences } from '../screen/sequences.ts';
import type { TerminalLog } from '../session/log.ts';
import type { ShellKind } from './shells/shell-script.ts';

/** Limit for an answer that may be cut. */
const maxCharacters = 30_000;
/** Bytes read for such an answer at each end. Enough for as many characters of four bytes each. */
const cutWindowBytes = 128 * 1024;
/** Bytes read at each end for an answer that should not be cut. Longer output is cut anyway. */
const wholeWindowBytes = 4 * 1024 * 1024;
/** How much of the beginning of long output is kept in memory. */
const headBytes = 64 * 1024;

export interface OutputText {
  readonly text: string;
  readonly isTruncated: boolean;
}

/** Control strings and escape sequences. A sequence that the command leaves unfinished stays in the text. */
const escapes =
  // oxlint-disable-next-line no-control-regex -- it is about control characters
  /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]+[0-~]|[0-OQ-WYZ\\`-~])/g;

export interface OutputRange extends Range {
  /** The beginning of the range, if it was kept separately. */
  readonly head: Uint8Array | null;
}

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

/** Reads the beginning of output that is about to exceed what its log keeps. */
export function readHead(log: TerminalLog, from: number): Uint8Array {
  return readRange(log, from, from + headBytes);
}

export function plainText(bytes: Uint8Array): string {
  return decodeUtf8(bytes).replace(escapes, '').replaceAll('\r\n', '\n');
}

/** Cuts out the middle of a long text. */
function shorten(text: string, isTruncated: boolean, isCut: boolean): OutputText {
  if (!isCut) return { text, isTruncated };
  const whole = takeCharacters(text, maxCharacters, 'start');
  if (whole.length === text.length) return { text, isTruncated };
  const marker = cutMarker(Buffer.byteLength(text) - maxCharacters);
  const half = Math.floor((maxCharacters - marker.length) / 2);
  const [start, end] = [takeCharacters(text, half, 'start'), takeCharacters(text, half, 'end')];
  return { text: `${start}${marker}${end}`, isTruncated: true };
}

function fromWholeCharacter(bytes: Uint8Array): Uint8Array {
  const start = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return bytes.subarray(Math.max(0, start));
}

/** Reads the part of the range that is still kept. */
export function readRange(log: TerminalLog, from: number, to: number): Uint8Array {
  using _open = log.use();
  return readLog(log, from, to).bytes;
}

/** The sequences that shells print after output without a final line end. */
const noLineEnd: Readonly<Partial<Record<ShellKind, RegExp>>> = {
  zsh: /[%#] {2,}\r ?\r$/,
  fish: /⏎ {2,}\r⏎ \r$/,
};
/**
 * The line end that a shell prints after an interrupt. zsh prints none if it was interrupted itself, and the two cases
 * look the same. For zsh, only an empty line counts as the shell's own.
 */
const interruptLineEnd: Readonly<Partial<Record<ShellKind, RegExp>>> = {
  bash: /\n$/,
  posix: /\n$/,
  zsh: /(?<=^|\n)\n$/,
};
const interrupted = 128 + constants.signals.SIGINT;

/** Removes what a shell prints before the prompt that reports the end of a command. */
export function withoutPromptStart(output: string, kind: ShellKind, code: number | null): string {
  const text = noLineEnd[kind] ? output.replace(noLineEnd[kind], '') : output;
  const lineEnd = code === interrupted ? interruptLineEnd[kind] : undefined;
  return lineEnd ? text.replace(lineEnd, '') : text;
}

/** A sequence longer than this is treated as text. */
const maxHeldBytes = 64 * 1024;
const pieceBytes = 64 * 1024;
const carriageReturn = 0x0d;

/** The part of a session's output that is followed. */
export interface TextSource {
  /** The offset of its first byte; null until it begins. */
  readonly from: number | null;
  /** The offset of its end, as far as known. */
  readonly to: number;
  readonly isOver: boolean;
  /** Resolves when any of these may have changed, or when the signal aborts. */
  changed(signal: AbortSignal): Promise<void>;
}

/** Yields the text up to the end of the source, or up to the current end when the signal aborts. */
export async function* followText(log: TerminalLog, source: TextSource, signal: AbortSignal): AsyncGenerator<string> {
  const text = new PlainText();
  const buffer = Buffer.allocUnsafe(pieceBytes);
  using _open = log.use();
  for (let at = source.from; ;) {
    // Checked before the output is read, so that all output before the end is yielded before the end.
    const isLast = source.isOver || signal.aborted;
    at ??= source.from;
    while (at !== null && at < source.to) {
      const piece = log.readInto(buffer.subarray(0, Math.min(pieceBytes, source.to - at)), at);
      if (!piece) break;
      const shown = piece.kind === 'gap' ? `${text.end()}${cutMarker(piece.to - at)}` : text.take(piece.bytes);
      at = piece.kind === 'gap' ? piece.to : at + piece.bytes.length;
      if (shown !== '') yield shown;
    }
    if (isLast) break;
    // The source may have ended while the consumer handled the yielded text.
    if (!source.isOver) await source.changed(signal);
  }
  const rest = text.end();
  if (rest !== '') yield rest;
}

export class PlainText {
  #sequences = new Sequences();
  #held = Buffer.alloc(0);

  /** Returns the text that is complete so far. */
  take(bytes: Uint8Array): string {
    const { whole } = this.#sequences.scan(bytes);
    const all = Buffer.concat([this.#held, bytes]);
    let length = whole === null ? 0 : this.#held.length + whole;
    // Keep CR and LF of a line end together.
    if (all[length - 1] === carriageReturn) length -= 1;
    this.#held = all.subarray(length);
    if (this.#held.length > maxHeldBytes) return plainText(all.subarray(0, length)) + this.end();
    return plainText(all.subarray(0, length));
  }

  /** Returns the remaining text at the end of the output. */
  end(): string {
    const rest = plainText(this.#held);
    this.#held = Buffer.alloc(0);
    this.#sequences = new Sequences();
    return rest;
  }
}
