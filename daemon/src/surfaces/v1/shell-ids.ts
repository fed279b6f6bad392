/** The ids of 1.x shell sessions, as core has them and as clients do. */
import { CoreError } from '../../kit/errors.ts';
import { clientIdPattern } from '../../kit/ids.ts';
import { isPlain, spell } from './spelled-ids.ts';

export { unspell as wireId } from './spelled-ids.ts';

/** Throws `bad_argument` for one that is too long to be spelled. */
export function coreId(id: string): string {
  const written = isPlain(id) ? id : spell(id);
  if (clientIdPattern.test(written)) return written;
  throw new CoreError('bad_argument', 'the id of the session is too long', { hint: 'Take one of at most 90 bytes.' });
}
