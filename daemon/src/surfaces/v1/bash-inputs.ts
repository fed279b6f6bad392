/** The values that the 1.x routes of commands take in more than one place. */
import { z } from 'zod';
import { systemText } from './system-text.ts';

export const absolutePath = systemText
  .refine((path) => path.startsWith('/'), 'must be an absolute path')
  .meta({ pattern: '^/[^\\u0000]*$' });

/** Any text: 1.x clients choose what they like. Sessions are kept for long, so that it has a bound. */
export const sessionId = z.string().max(256);

/** At most a year: what is longer is a mistake of the unit. */
export const seconds = z.number().min(0).max(31_536_000);

export const environment = z.record(
  systemText
    .min(1)
    .refine((name) => !name.includes('='), 'must not contain =')
    .meta({ pattern: '^[^\\u0000=]+$' }),
  // The Python client has null among its types.
  systemText.nullable(),
);
