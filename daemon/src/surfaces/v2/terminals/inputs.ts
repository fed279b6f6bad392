/** Input values that several routes of terminal sessions share. */
import { z } from 'zod';
import { clientId, seconds } from '../../../operations/inputs.ts';

export const TerminalPath = z.object({ id: clientId });

export const noChangeTimeout = seconds
  .nullable()
  .describe('Seconds without new output after which exec answers no_change_timeout; null is never.');
