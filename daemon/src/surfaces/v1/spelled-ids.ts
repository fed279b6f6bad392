/** 1.x clients choose any text as an id; core takes what is safe in the name of a file, so the rest is spelled in base64url. */
import { clientIdPattern } from '../../kit/ids.ts';

const prefix = 'v1.';

/** Core can take it as it is, and nothing that is spelled looks like it. */
export function isPlain(id: string): boolean {
  return clientIdPattern.test(id) && !id.startsWith(prefix);
}

export function spell(id: string): string {
  return prefix + Buffer.from(id).toString('base64url');
}

/** As the client calls it; an id that was never spelled is itself. */
export function unspell(id: string): string {
  const own = Buffer.from(id.slice(prefix.length), 'base64url').toString();
  return spell(own) === id ? own : id;
}

/** A sentence of core about a session, which is called there as the client calls it. */
export function unspellIn(sentence: string): string {
  return sentence.replaceAll(/(?<=\bsession )v1\.[\w-]+/g, unspell);
}
