/** Failures that a call expects of the files that it looks at. */
import { CoreError } from '../../kit/errors.ts';

/** What has gone meanwhile is not in a list, and is removed. */
export function nullIfGone(error: unknown): null {
  if (error instanceof CoreError && error.code === 'file_not_found') return null;
  throw error;
}

/** For a link that leads nowhere, and for what the daemon may not look at. */
export function nullIfRefused(error: unknown): null {
  if (error instanceof CoreError) return null;
  throw error;
}
