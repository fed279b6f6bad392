/** The values that v2 routes take in more than one place. */
import { z } from 'zod';
import { clientIdPattern } from '../../kit/ids.ts';

/** Words of a route, which an id would hide. */
const reservedIds = new Set(['sessions']);

/** The kernel ends every string at a NUL byte: what lies behind it would be lost without a word. */
export const systemText = z
  .string()
  .refine((text) => !text.includes('\0'), 'must not contain a NUL byte')
  .meta({ pattern: '^[^\\u0000]*$' });

export const clientId = z
  .string()
  .regex(clientIdPattern)
  .refine((id) => !reservedIds.has(id), 'is a word of a route');

/** At most a year: what is longer is a mistake of the unit. */
export const seconds = z.number().min(0).max(31_536_000);

export const environment = z.record(
  systemText
    .min(1)
    .refine((name) => !name.includes('='), 'must not contain =')
    .meta({ pattern: '^[^\\u0000=]+$' }),
  systemText.nullable(),
);
