/** Translates the ids of 1.x shell sessions between clients and core. */
import { CoreError } from '../../kit/errors.ts';
import { clientIdPattern } from '../../kit/ids.ts';
import { isPlain, spell } from './spelled-ids.ts';

export { unspell as wireId } from './spelled-ids.ts';

/** Throws `bad_argument` for an id that is too long to encode. */
export function coreId(id: string): string {
  const written = isPlain(id) ? id : spell(id);
  if (clientIdPattern.test(written)) return written;
  throw new CoreError('bad_argument', 'the id of the session is too long', { hint: 'Take one of at most 90 bytes.' });
}
