/** Escapes UTF-8 bytes into a JSON string, from buffer to buffer, without creating a JavaScript string. */
import { isUtf8 } from 'node:buffer';
import { decodeUtf8 } from './text.ts';

/** Maximum number of bytes that one byte may become. */
export const longestEscape = 6;
/** The letter after the backslash, for each byte that has a short escape; 0 for all others. */
const letters = new Uint8Array(256);
for (const [code, letter] of Object.entries({ 8: 'b', 9: 't', 10: 'n', 12: 'f', 13: 'r', 34: '"', 92: '\\' }))
  letters[Number(code)] = letter.charCodeAt(0);
const hexDigits = Buffer.from('0123456789abcdef');
/** The escape of a byte without a letter, except its last two digits. */
const numbered = Buffer.from('\\u00');
const backslash = 0x5c;
const space = 0x20;

/**
 * Writes the text, escaped for a JSON string, into `into` at `at`, and returns the end offset.
 * Bytes that are not UTF-8 become U+FFFD. The caller provides room for `longestEscape` times the text.
 */
export function writeJsonText(into: Buffer, at: number, text: Uint8Array): number {
  return writeEscaped(into, at, isUtf8(text) ? text : Buffer.from(decodeUtf8(text)));
}

/**
 * Checks four bytes at once, and copies all four before it knows how many need no escape.
 * A high bit in a byte of `found` marks a byte to escape. With bit 1 inverted, the quote and all bytes below the space
 * are the lowest 33 values. A subtraction borrows from the byte above only when the byte below was marked. The lowest
 * mark is therefore always correct.
 */
function writeEscaped(into: Buffer, at: number, text: Uint8Array): number {
  const from = new DataView(text.buffer, text.byteOffset, text.length);
  const to = new DataView(into.buffer, into.byteOffset, into.length);
  const last = text.length - 4;
  let next = 0;
  let end = at;
  while (next <= last) {
    const four = from.getInt32(next, true);
    const low = (four ^ 0x02020202) - 0x21212121;
    const slashes = (four ^ 0x5c5c5c5c) - 0x01010101;
    const found = (low | slashes) & ~four & 0x80808080;
    to.setInt32(end, four, true);
    const right = found === 0 ? 4 : (31 - Math.clz32(found & -found)) >> 3;
    next += right;
    end += right;
    if (right < 4) end = writeByte(into, end, from.getUint8(next++));
  }
  while (next < text.length) end = writeByte(into, end, from.getUint8(next++));
  return end;
}

function writeByte(into: Buffer, at: number, byte: number): number {
  const letter = letters[byte]!;
  if (letter !== 0) {
    into[at] = backslash;
    into[at + 1] = letter;
    return at + 2;
  }
  if (byte >= space) {
    into[at] = byte;
    return at + 1;
  }
  for (let index = 0; index < 4; index++) into[at + index] = numbered[index]!;
  into[at + 4] = hexDigits[byte >> 4]!;
  into[at + 5] = hexDigits[byte & 15]!;
  return at + 6;
}
