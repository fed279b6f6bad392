/**
 * Encodes session ids: 1.x clients choose any text, core takes file-name-safe ids.
 *
 * Any other id is encoded in base64url.
 */
import { clientIdPattern } from '../../kit/ids.ts';

const prefix = 'v1.';

/** True for an id that core can take unchanged and that does not look like an encoded id. */
export function isPlain(id: string): boolean {
  return clientIdPattern.test(id) && !id.startsWith(prefix);
}

export function spell(id: string): string {
  return prefix + Buffer.from(id).toString('base64url');
}

/** The id that the client uses. An id that was never encoded is returned unchanged. */
export function unspell(id: string): string {
  const own = Buffer.from(id.slice(prefix.length), 'base64url').toString();
  return spell(own) === id ? own : id;
}

/** Replaces encoded ids in a sentence of core about a session by the client's ids. */
export function unspellIn(sentence: string): string {
  return sentence.replaceAll(/(?<=\bsession )v1\.[\w-]+/g, unspell);
}
