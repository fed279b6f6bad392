/** Finds the terminal titles that programs set with OSC 0 and OSC 2, across piece boundaries. */
import { decodeUtf8 } from '../../../kit/text/text.ts';

const start = Buffer.from('\x1b]');
const escape = 0x1b;
const bell = 0x07;
/** A longer sequence is not a title. */
const maxBytes = 4096;

export class TitleScanner {
  /** The beginning of a sequence that is not complete yet. */
  #begun: Buffer | null = null;

  /** The last title in the next piece; null if there is none. */
  scan(piece: Uint8Array): string | null {
    const bytes = this.#begun ? Buffer.concat([this.#begun, piece]) : asBuffer(piece);
    this.#begun = null;
    let title: string | null = null;
    for (let at = bytes.indexOf(start); at !== -1; at = bytes.indexOf(start, at + start.length)) {
      const end = endOf(bytes, at + start.length);
      if (end === null && bytes.length - at <= maxBytes) {
        this.#begun = Buffer.from(bytes.subarray(at));
        return title;
      }
      if (end !== null) title = titleOf(bytes.subarray(at + start.length, end)) ?? title;
    }
    if (bytes.at(-1) === escape) this.#begun = Buffer.from([escape]);
    return title;
  }
}

/** The end of the sequence: BEL, or the ESC of a string terminator. */
function endOf(bytes: Buffer, from: number): number | null {
  const last = Math.min(bytes.length, from + maxBytes);
  for (let at = from; at < last; at++) if (bytes[at] === bell || bytes[at] === escape) return at;
  return null;
}

function titleOf(sequence: Uint8Array): string | null {
  const text = decodeUtf8(sequence);
  return /^[02];/.test(text) ? text.slice(2) : null;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
