/**
 * Maps the session ids of 1.x clients to ids of core.
 *
 * 1.x clients choose any text, and each language has its own namespace. Core has one namespace of plain ids. An id
 * stays the same in core wherever possible. An id that a session of the other language already has is prefixed with
 * its language. An id that is not plain is encoded in base64.
 */
import { languages, type Language } from '../../core/code/language.ts';
import type { CodeSession } from '../../core/code/sessions/session.ts';
import type { CodeSessions } from '../../core/code/sessions/sessions.ts';
import { CoreError } from '../../kit/errors.ts';
import { mintId } from '../../kit/ids.ts';
import { isPlain, spell, unspell } from './spelled-ids.ts';

/** The id becomes a file name. */
const maxBytes = 128;

/** Null and the empty text request a new session. Throws `bad_argument`. */
export async function sessionKey(
  code: CodeSessions,
  language: Language,
  id: string | null | undefined,
): Promise<string> {
  if (!id) return mintId('session');
  if (Buffer.byteLength(id) > maxBytes) {
    throw new CoreError('bad_argument', `a session_id has at most ${maxBytes} bytes`, { hint: 'Use a shorter one.' });
  }
  const plain = isPlain(id) && !hasPrefix(id) ? id : spell(id);
  const apart = prefixOf(language) + plain;
  const isTaken = ((await code.find(plain))?.record.language ?? language) !== language;
  return isTaken || (await code.find(apart)) ? apart : plain;
}

/** The id that the client uses. */
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
