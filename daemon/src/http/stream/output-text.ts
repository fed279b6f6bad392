/** The schema of a text that an answer may read from its source, in place of a string. */
import { z } from 'zod';
import type { LongText } from '../../kit/text/long-text.ts';

export const outputText: z.ZodType<string, string | LongText> = z.string();
