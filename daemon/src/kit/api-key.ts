/** Validates the API key of an operator: an HTTP header must be able to carry the key unchanged. */

export const keyRule = 'a key is printable ASCII without blanks at its ends';

/** Drops one newline at the end, which secret files usually have. Null when a header cannot carry the key. */
export function parseKey(given: string): string | null {
  const key = given.replace(/\r?\n$/, '');
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(key) ? key : null;
}
