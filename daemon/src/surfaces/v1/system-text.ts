/** Text that 1.x clients hand on to the system. */
import { z } from 'zod';

/** The kernel ends every string at a NUL byte: what lies behind it would be lost without a word. */
export const systemText = z
  .string()
  .refine((text) => !text.includes('\0'), 'must not contain a NUL byte')
  .meta({ pattern: '^[^\\u0000]*$' });
