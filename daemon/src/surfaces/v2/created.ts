/** What an answer says when the session with the caller's id was there already. */
import { z } from 'zod';

export const created = z.boolean().describe('False when a session with this id was there already.');

export const keptAdvice = {
  hint: 'The session with this id was there already, with the values of this call. DELETE it first to start another one.',
};
