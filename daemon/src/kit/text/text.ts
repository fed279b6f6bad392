/** Turns bytes into text for people: whole UTF-8 sequences, and markers where output was cut. */

/** The number of leading bytes that form whole UTF-8 sequences; the remaining bytes start another sequence. */
export function wholeUtf8Length(bytes: Uint8Array): number {
  const end = bytes.length;
  for (let back = 1; back <= 3 && back <= end; back++) {
    const byte = bytes[end - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue; // A continuation byte; its lead byte is further back.
    return sequenceLength(byte) > back ? end - back : end;
  }
  return end;
}

/** The length that a lead byte announces; 1 for ASCII and for bytes that cannot lead a sequence. */
function sequenceLength(lead: number): number {
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  return 1;
}

/** Shows bytes that are not UTF-8 as U+FFFD. A byte order mark stays, because it is content. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export function decodeUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** Counts characters as Unicode code points, like the 1.x answers. */
export function countCharacters(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    if (isHighSurrogate(text.charCodeAt(i)) && isLowSurrogate(text.charCodeAt(i + 1))) count--;
  }
  return count;
}

export function takeCharacters(text: string, count: number, from: 'start' | 'end'): string {
  if (text.length <= count) return text;
  // A code point takes at most two units, so a window of twice the count suffices.
  const window = from === 'start' ? text.slice(0, count * 2 + 1) : text.slice(-(count * 2 + 1));
  const characters = Array.from(window);
  return (
    from === 'start' ? characters.slice(0, count) : characters.slice(Math.max(0, characters.length - count))
  ).join('');
}

/** Limit for the script or code in a record. A daemon keeps hundreds of records, and a script may have 32 MiB. */
const maxRecordedCharacters = 16 * 1024;

/** A script or code as its record keeps the text: a copy, because a slice would hold the whole text in memory. */
export function recordedText(text: string): string {
  if (text.length <= maxRecordedCharacters) return text;
  return `${takeCharacters(text, maxRecordedCharacters, 'start')}…`;
}

/** Arguments as a record keeps them: within the limit together, and `…` in place of the rest. */
export function recordedTexts(texts: readonly string[]): readonly string[] {
  let characters = 0;
  const isWithin = (text: string) => (characters += text.length + 1) <= maxRecordedCharacters;
  const end = texts.findIndex((text) => !isWithin(text));
  return end < 0 ? texts : [...texts.slice(0, end), '…'];
}

/** The marker in an answer where output was left out. */
export function cutMarker(omittedBytes: number): string {
  return `\n… [${omittedBytes} bytes left out; read them by offset] …\n`;
}

export function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

export function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
