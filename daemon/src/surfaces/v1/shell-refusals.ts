/** Errors of the 1.x shell routes, in the words that 1.x clients know. */
import { CoreError } from '../../kit/errors.ts';

export function sessionNotFound(): CoreError {
  return new CoreError('terminal_not_found', 'Session not found', {
    hint: 'POST /v1/shell/sessions/create creates a session. A session that is not used is closed after a while.',
  });
}
