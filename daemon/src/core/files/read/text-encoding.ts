/** Decides which files are text: UTF-8, or UTF-16 with a byte order mark, without NUL characters. */

export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be';

export interface DecodedText {
  /** Begins with U+FEFF where the file begins with a byte order mark. */
  readonly text: string;
  readonly encoding: TextEncoding;
}

/** The byte order mark decides; only UTF-8 needs none. */
export function encodingOf(start: Uint8Array): TextEncoding {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le';
  if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be';
  return 'utf-8';
}

const options = { fatal: true, ignoreBOM: true } as const;
const decoders = {
  'utf-8': new TextDecoder('utf-8', options),
  'utf-16le': new TextDecoder('utf-16le', options),
  'utf-16be': new TextDecoder('utf-16be', options),
} as const satisfies Readonly<Record<TextEncoding, TextDecoder>>;

/** Null for bytes that are not text. Grep treats files with a NUL character as binary too. */
export function decodeBytes(bytes: Uint8Array, encoding = encodingOf(bytes)): DecodedText | null {
  try {
    const text = decoders[encoding].decode(bytes);
    return text.includes('\0') ? null : { text, encoding };
  } catch {
    return null; // A sequence is not valid in this encoding.
  }
}

export function encodeText(text: string, encoding: TextEncoding): Buffer {
  if (encoding === 'utf-8') return Buffer.from(text);
  const bytes = Buffer.from(text, 'utf16le');
  return encoding === 'utf-16be' ? bytes.swap16() : bytes;
}
