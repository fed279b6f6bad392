/** Input values that several 1.x command routes share. */
import { z } from 'zod';
import { systemText } from '../../operations/inputs.ts';

export const absolutePath = systemText
  .refine((path) => path.startsWith('/'), 'must be an absolute path')
  .meta({ pattern: '^/[^\\u0000]*$' });

/** Any text, because 1.x clients choose their own ids. Bounded, because sessions are kept for long. */
export const sessionId = z.string().max(256);
