/** Text from 1.x clients that is passed to the system. */
import { z } from 'zod';

/** The kernel ends every string at a NUL byte, so the rest would be lost silently. */
export const systemText = z
  .string()
  .refine((text) => !text.includes('\0'), 'must not contain a NUL byte')
  .meta({ pattern: '^[^\\u0000]*$' });
