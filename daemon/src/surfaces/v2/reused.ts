/** What an answer says when the session with the caller's id was there already. */
import { z } from 'zod';

export const reused = z.boolean().describe('True when a session with this id was there already.');

export const reusedAdvice = {
  hint: 'The session with this id was there already and stays as it is, so the other values of this call have no effect. DELETE it first to start another one.',
};
