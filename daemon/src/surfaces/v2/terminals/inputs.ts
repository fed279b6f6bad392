/** Input values that several routes of terminal sessions share. */
import { z } from 'zod';
import { clientId, seconds, wholeText } from '../../../operations/inputs.ts';

export const TerminalPath = z.object({ id: clientId });

/** Without control characters and separators of lines, so that every list shows it in one row. */
const oneLine = String.raw`^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$`;

export const terminalName = wholeText
  .min(1)
  .max(100)
  .refine((name) => new RegExp(oneLine).test(name), 'must be one line')
  .meta({ pattern: oneLine })
  .nullable();

export const noChangeTimeout = seconds
  .nullable()
  .describe('Seconds without new output after which exec answers no_change_timeout; null is never.');
