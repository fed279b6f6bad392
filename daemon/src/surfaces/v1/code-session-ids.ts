/**
 * 1.x clients call their sessions what they like, and each language has its own: core has one namespace of plain ids.
 * An id is the same there wherever it can be. One that a session of the other language has already stands behind the
 * name of its language, and what is no plain id is spelled in base64.
 */
import { languages, type Language } from '../../core/code/language.ts';
import type { CodeSession } from '../../core/code/session.ts';
import type { CodeSessions } from '../../core/code/sessions.ts';
import { CoreError } from '../../kit/errors.ts';
import { mintId } from '../../kit/ids.ts';
import { isPlain, spell, unspell } from './spelled-ids.ts';

/** It becomes the name of a file. */
const mostBytes = 128;

/** Null, as the empty text, is a new one. Throws `bad_argument`. */
export async function sessionKey(
  code: CodeSessions,
  language: Language,
  id: string | null | undefined,
): Promise<string> {
  if (!id) return mintId('session');
  if (Buffer.byteLength(id) > mostBytes) {
    throw new CoreError('bad_argument', `a session_id has at most ${mostBytes} bytes`, { hint: 'Use a shorter one.' });
  }
  const plain = isPlain(id) && !hasPrefix(id) ? id : spell(id);
  const apart = prefixOf(language) + plain;
  const isTaken = ((await code.find(plain))?.record.language ?? language) !== language;
  return isTaken || (await code.find(apart)) ? apart : plain;
}

/** As the client calls it. */
export function sessionId({ id, record }: CodeSession): string {
  const prefix = prefixOf(record.language);
  return unspell(id.startsWith(prefix) ? id.slice(prefix.length) : id);
}

function prefixOf(language: Language): string {
  return `${language}.`;
}

function hasPrefix(id: string): boolean {
  return languages.some((language) => id.startsWith(prefixOf(language)));
}
