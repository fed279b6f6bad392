/** Input values that several 1.x shell routes share. */
import { z } from 'zod';
import { systemText } from '../../operations/inputs.ts';

/** Any text, because 1.x clients choose their own ids. */
export const sessionId = z.string();

export const seconds = z.number().min(0);
export const wholeSeconds = z.int().min(0);

export const execDirectory = systemText.nullish().describe('Absolute.');
export const preserveSymlinks = z
  .boolean()
  .nullable()
  .default(false)
  .describe('The shell knows the directory by this path, with the links in it.');
