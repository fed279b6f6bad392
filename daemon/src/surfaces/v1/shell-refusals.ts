/** Why a 1.x route of shells refuses, in words that 1.x clients know. */
import { CoreError } from '../../kit/errors.ts';

export function sessionNotFound(): CoreError {
  return new CoreError('terminal_not_found', 'Session not found', {
    hint: 'POST /v1/shell/sessions/create creates one; one that nobody has used for long is closed.',
  });
}

export function notTyped(count: number): CoreError {
  return new CoreError('terminal_busy', `nothing reads what is typed: the last ${count} bytes were left out`, {
    hint: 'Wait for what runs there, or end it (kill), and type them again.',
  });
}
