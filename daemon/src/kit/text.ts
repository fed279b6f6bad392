/** Bytes to text for people: whole UTF-8 sequences, and a cut in the middle that says how much is missing. */

/** How many leading bytes form whole UTF-8 sequences; what is left is the start of one more. */
export function wholeUtf8Length(bytes: Uint8Array): number {
  const end = bytes.length;
  for (let back = 1; back <= 3 && back <= end; back++) {
    const byte = bytes[end - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue; // A continuation byte: its lead is further back.
    return sequenceLength(byte) > back ? end - back : end;
  }
  return end;
}

/** The length that a lead byte announces; 1 for ASCII and for what can lead nothing. */
function sequenceLength(lead: number): number {
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  return 1;
}

/** Not UTF-8 shows as U+FFFD. A byte order mark is content, not decoration. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export function decodeUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** Characters are Unicode code points, as in the 1.x answers. */
export function countCharacters(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    if (isHighSurrogate(text.charCodeAt(i)) && isLowSurrogate(text.charCodeAt(i + 1))) count--;
  }
  return count;
}

/** The first or the last `count` characters of a text. */
export function takeCharacters(text: string, count: number, from: 'start' | 'end'): string {
  if (text.length <= count) return text;
  // A code point takes at most two units, so twice the count is enough to look at.
  const window = from === 'start' ? text.slice(0, count * 2 + 1) : text.slice(-(count * 2 + 1));
  const characters = Array.from(window);
  return (
    from === 'start' ? characters.slice(0, count) : characters.slice(Math.max(0, characters.length - count))
  ).join('');
}

/** What stands where output was left out of an answer. */
export function cutMarker(omittedBytes: number): string {
  return `\n… [${omittedBytes} bytes left out; read them by offset] …\n`;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
