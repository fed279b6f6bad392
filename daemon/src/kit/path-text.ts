/**
 * Paths are bytes on Linux and text in a request. Inside the daemon a path is a string in which each byte that is not
 * UTF-8 is one lone surrogate, U+DC80 to U+DCFF for the bytes 0x80 to 0xFF (as in Python's PEP 383), so that every
 * name of a file system can be held, joined and compared as text.
 */

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const strayPattern = /[\ud800-\udfff]/u; // With the u flag a pair is one character, so only lone ones match.
const strayBytePattern = /[\udc80-\udcff]/u;
const otherStrayPattern = /[\ud800-\udc7f\udd00-\udfff]/u;

/** A name or path from the system. */
export function decodePath(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return decodeStrayBytes(bytes); // Not all of it is UTF-8.
  }
}

/** For the system: text, or bytes where the path is not UTF-8. */
export function systemPath(path: string): string | Buffer {
  return strayPattern.test(path) ? encodePath(path) : path;
}

/** The bytes of a path. A surrogate that stands for no byte becomes U+FFFD, as everywhere; see `isPath`. */
export function encodePath(path: string): Buffer {
  if (!strayPattern.test(path)) return Buffer.from(path);
  const parts: Buffer[] = [];
  for (const part of path.split(/([\udc80-\udcff])/u)) {
    parts.push(strayBytePattern.test(part) ? Buffer.from([part.charCodeAt(0) - 0xdc00]) : Buffer.from(part));
  }
  return Buffer.concat(parts);
}

/** False for what no file can be called: a NUL byte, or a surrogate that stands for no byte. */
export function isPath(text: string): boolean {
  return !text.includes('\0') && !otherStrayPattern.test(text);
}

/** As clients see a path: itself, or where it is not UTF-8 a file URL, which every route takes as a path too. */
export function showPath(path: string): string {
  return strayPattern.test(path) ? `file://${percentEncode(encodePath(path))}` : path;
}

/** As people see a name: U+FFFD for each byte that is not UTF-8. */
export function showName(name: string): string {
  return name.replaceAll(/[\ud800-\udfff]/gu, '\ufffd');
}

/** A path as a client gives it: a path, or `file:///` and a percent-encoded one. */
export function readPath(text: string): string {
  return text.startsWith('file:///') ? percentDecode(text.slice('file://'.length)) : text;
}

/** `%FF` is one byte; what is no escape stays. */
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

/** The length of the UTF-8 sequence that begins here; 0 where none does. */
function wholeSequence(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return 1;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  try {
    return utf8.decode(bytes.subarray(at, at + length)).length > 0 && at + length <= bytes.length ? length : 0;
  } catch {
    return 0; // Not UTF-8: the byte stands for itself.
  }
}
