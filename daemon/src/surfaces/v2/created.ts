/** What an answer says when the session with the caller's id was there already. */
import { z } from 'zod';

export const created = z.boolean().describe('False when a session with this id was there already.');

export const keptAdvice = {
  hint: 'The session with this id was there already and stays as it is, so the other values of this call have no effect. DELETE it first to start another one.',
};
