/**
 * 1.x clients call their sessions what they like, and each language has its own: core has one namespace of plain ids.
 * The sessions of JavaScript begin with `nodejs.` there, and what is no plain id is spelled in base64.
 */
import type { Language } from '../../core/code/language.ts';
import type { CodeSession } from '../../core/code/session.ts';
import { CoreError } from '../../kit/errors.ts';
import { clientIdPattern, mintId } from '../../kit/ids.ts';

const prefixes: Readonly<Record<Language, string>> = { python: '', javascript: 'nodejs.' };
const spelled = 'v1.';
/** It becomes the name of a file. */
const mostBytes = 128;

/** Null, as the empty text, is a new one. Throws `bad_argument`. */
export function sessionKey(language: Language, id: string | null | undefined): string {
  const own = id ? id : mintId('session');
  if (Buffer.byteLength(own) > mostBytes) {
    throw new CoreError('bad_argument', `a session_id has at most ${mostBytes} bytes`, { hint: 'Use a shorter one.' });
  }
  return prefixes[language] + (isPlain(own) ? own : spelled + Buffer.from(own).toString('base64url'));
}

/** As the client calls it. */
export function sessionId({ id, record }: CodeSession): string {
  const own = id.slice(isOfThisSurface(id, record.language) ? prefixes[record.language].length : 0);
  return own.startsWith(spelled) ? Buffer.from(own.slice(spelled.length), 'base64url').toString() : own;
}

/** Sessions of JavaScript that were made without this surface have no name here. */
export function isOfThisSurface(id: string, language: Language): boolean {
  return id.startsWith(prefixes[language]);
}

function isPlain(id: string): boolean {
  return clientIdPattern.test(id) && !id.startsWith(spelled) && !id.startsWith(prefixes.javascript);
}
