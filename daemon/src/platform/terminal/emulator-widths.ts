/** Counts the columns of a character as Unix programs do: each code point by itself. */
import type { IUnicodeVersionProvider, Terminal } from '@xterm/headless';

type Width = 0 | 1 | 2;

/** Replaces the emulator's table of Unicode 6, in which an emoji is narrow, with the current table of the runtime. */
export function registerWidths(terminal: Terminal): void {
  terminal.unicode.register(new CodePointWidths());
  terminal.unicode.activeVersion = 'code points';
}

const blockSize = 256;
const unknown = 3;
/** Marks that take a column of their own, which the runtime counts as zero columns. */
const spacingMark = /^(?:\p{Mc}|[\u00AD\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2])$/v;

class CodePointWidths implements IUnicodeVersionProvider {
  readonly version = 'code points';
  /** Cached widths, by the first code point of a block. */
  readonly #blocks = new Map<number, Uint8Array>();

  wcwidth(codePoint: number): Width {
    if (codePoint < 0x7f) return codePoint < 0x20 ? 0 : 1;
    const first = codePoint - (codePoint % blockSize);
    let block = this.#blocks.get(first);
    if (!block) this.#blocks.set(first, (block = new Uint8Array(blockSize).fill(unknown)));
    const known = block[codePoint - first] ?? unknown;
    return known === unknown ? (block[codePoint - first] = measure(codePoint)) : (known as Width);
  }

  /**
   * Joins a zero-width mark to the character before it. The emulator packs the width and the joined flag into one
   * number.
   */
  charProperties(codePoint: number, preceding: number): number {
    const own = this.wcwidth(codePoint);
    const before = (preceding >> 1) & 3;
    const isJoined = own === 0 && preceding !== 0 && before > 0;
    return ((isJoined ? before : own) << 1) | Number(isJoined);
  }
}

function measure(codePoint: number): Width {
  const isSurrogate = codePoint >= 0xd800 && codePoint < 0xe000;
  if (codePoint < 0xa0 || isSurrogate) return 0;
  const text = String.fromCodePoint(codePoint);
  return spacingMark.test(text) ? 1 : (Math.min(2, Bun.stringWidth(text)) as Width);
}
