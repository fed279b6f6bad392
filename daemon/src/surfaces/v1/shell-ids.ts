/** The ids of 1.x sessions: clients choose any text, the core takes what is safe in the name of a file. */
import { clientIdPattern } from '../../kit/ids.ts';
import { CoreError } from '../../kit/errors.ts';

/** In front of an id that is written in base64url; one that a client has begun so is written in it too. */
const coded = 'v1.';

/** Throws `bad_argument` for one that is too long to be written so. */
export function coreId(id: string): string {
  if (clientIdPattern.test(id) && !id.startsWith(coded)) return id;
  const written = `${coded}${Buffer.from(id).toString('base64url')}`;
  if (clientIdPattern.test(written)) return written;
  throw new CoreError('bad_argument', 'the id of the session is too long', { hint: 'Take one of at most 90 bytes.' });
}

export function wireId(id: string): string {
  return id.startsWith(coded) ? Buffer.from(id.slice(coded.length), 'base64url').toString() : id;
}
