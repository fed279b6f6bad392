/** Validates the API key of an operator, or of a file: an HTTP header must be able to carry the key unchanged. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { errnoOf } from './errno.ts';

/** A request has at most 16 KiB of headers. */
const maxBytes = 8192;

export const keyRule = 'a key is printable ASCII without blanks at its ends';

/** Drops one newline at the end, which secret files usually have. Null when a header cannot carry the key. */
export function parseKey(given: string): string | null {
  const key = given.replace(/\r?\n$/, '');
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(key) ? key : null;
}

/** Throws an Error with one line that shows nothing of the file. */
export function readKeyFile(path: string): string {
  const key = parseKey(textOf(path));
  if (key === null) throw new Error(`${path} does not hold a key: ${keyRule}`);
  return key;
}

function textOf(path: string): string {
  try {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK); // A pipe would block the daemon.
    try {
      if (!fstatSync(descriptor).isFile()) throw new Error('it is not a file');
      const bytes = Buffer.alloc(maxBytes + 1);
      const length = readSync(descriptor, bytes);
      if (length > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`);
      return bytes.toString('utf8', 0, length);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const reason = errnoOf(error) ?? (error as Error).message;
    throw new Error(`${path} with the API key cannot be read: ${reason}`, { cause: error });
  }
}
