/**
 * Converts between paths as bytes, as Linux has them, and paths as text, as requests have them.
 * Inside the daemon a path is a string. Each byte that is not UTF-8 becomes one lone surrogate: U+DC80 to U+DCFF for
 * the bytes 0x80 to 0xFF, as in Python's PEP 383. Every file name can thus be stored, joined and compared as text.
 */

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
// With the u flag a pair is one character, so only lone surrogates match.
const strayBytePattern = /[\udc80-\udcff]/u;
const otherStrayPattern = /[\ud800-\udc7f\udd00-\udfff]/u;

/** Decodes a name or path that the system returned. */
export function decodePath(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return decodeStrayBytes(bytes); // Some bytes are not UTF-8.
  }
}

/** Prepares a path for a system call: text, or bytes when the path is not UTF-8. */
export function systemPath(path: string): string | Buffer {
  return path.isWellFormed() ? path : encodePath(path);
}

/** The bytes of a path. A surrogate that stands for no byte becomes U+FFFD; see `isPath`. */
export function encodePath(path: string): Buffer {
  if (path.isWellFormed()) return Buffer.from(path);
  const parts: Buffer[] = [];
  for (const part of path.split(/([\udc80-\udcff])/u)) {
    parts.push(strayBytePattern.test(part) ? Buffer.from([part.charCodeAt(0) - 0xdc00]) : Buffer.from(part));
  }
  return Buffer.concat(parts);
}

/** False for text that cannot name a file: it contains NUL, or a surrogate that stands for no byte. */
export function isPath(text: string): boolean {
  return !text.includes('\0') && !otherStrayPattern.test(text);
}

/** The path for clients: unchanged, or a file URL when it is not UTF-8, which every route also accepts. */
export function showPath(path: string): string {
  return path.isWellFormed() ? path : `file://${percentEncode(encodePath(path))}`;
}

/** A name in the form for people: U+FFFD for each byte that is not UTF-8. */
export function showName(name: string): string {
  return name.replaceAll(/[\ud800-\udfff]/gu, '\ufffd');
}

/** Reads a path from a client: a plain path, or a percent-encoded one after `file://`. */
export function readPath(text: string): string {
  return text.startsWith('file:///') ? percentDecode(text.slice('file://'.length)) : text;
}

/** Decodes `%FF` to one byte; text that is not a valid escape stays unchanged. */
export function percentDecode(text: string): string {
  if (!text.includes('%')) return text;
  const parts = text.split(/((?:%[\da-f]{2})+)/i);
  return decodePath(
    Buffer.concat(
      parts.map((part, i) => (i % 2 === 1 ? Buffer.from(part.replaceAll('%', ''), 'hex') : encodePath(part))),
    ),
  );
}

function percentEncode(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replaceAll(/[^A-Za-z0-9/._~-]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}

function decodeStrayBytes(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length;) {
    const length = wholeSequence(bytes, at);
    text +=
      length === 0 ? String.fromCharCode(0xdc00 + (bytes[at] ?? 0)) : utf8.decode(bytes.subarray(at, at + length));
    at += Math.max(1, length);
  }
  return text;
}

/** The length of the UTF-8 sequence at this offset; 0 when none starts here. */
function wholeSequence(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return 1;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  try {
    return utf8.decode(bytes.subarray(at, at + length)).length > 0 && at + length <= bytes.length ? length : 0;
  } catch {
    return 0; // Not UTF-8, so the caller keeps the byte as a surrogate.
  }
}
