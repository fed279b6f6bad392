/** Files that have gone while a call looked at them. */
import { CoreError } from '../../kit/errors.ts';

/** What has gone meanwhile is not in a list, and is removed. */
export function nullIfGone(error: unknown): null {
  if (error instanceof CoreError && error.code === 'file_not_found') return null;
  throw error;
}
