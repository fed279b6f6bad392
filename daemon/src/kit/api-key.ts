/** Validates the API key of an operator, or of a file: an HTTP header must be able to carry the key unchanged. */
import { readFileSync } from 'node:fs';
import { errnoOf } from './errno.ts';

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
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`${path} with the API key cannot be read: ${errnoOf(error) ?? 'unknown error'}`, { cause: error });
  }
}
