/** UTF-8 as the text of a JSON string, from bytes to bytes: no string of the runtime is made on the way. */
import { isUtf8 } from 'node:buffer';
import { decodeUtf8 } from './text.ts';

/** What one byte may become. */
export const longestEscape = 6;
/** The letter behind the backslash, of each byte that has one; 0 of all others. */
const letters = new Uint8Array(256);
for (const [code, letter] of Object.entries({ 8: 'b', 9: 't', 10: 'n', 12: 'f', 13: 'r', 34: '"', 92: '\\' }))
  letters[Number(code)] = letter.charCodeAt(0);
const hexDigits = Buffer.from('0123456789abcdef');
/** Of a byte without a letter, but for its two digits. */
const numbered = Buffer.from('\\u00');
const backslash = 0x5c;
const space = 0x20;

/**
 * Writes to `into` from `at` on what stands for the text in a JSON string, and tells where that ends. What is no
 * UTF-8 shows as U+FFFD. There has to be room for `longestEscape` times the text.
 */
export function writeJsonText(into: Buffer, at: number, text: Uint8Array): number {
  return writeEscaped(into, at, isUtf8(text) ? text : Buffer.from(decodeUtf8(text)));
}

/**
 * Looks at four bytes at once, and copies them before it knows how many are right. The high bit of a byte of `found`
 * says that it is to be escaped: with its second bit turned, a quote and all below the space are the lowest 33 values.
 * A subtraction borrows from the byte above only where one below is found, so that the lowest one found is right.
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
