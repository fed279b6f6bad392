/** Input values that several operations and routes of v2 share. */
import { z } from 'zod';
import { clientIdPattern } from '../kit/ids.ts';
import { maxCols, maxRows } from '../kit/types/terminal-size.ts';

/** Path segments of routes that would clash with an id. */
const reservedIds = new Set(['sessions']);

/** The kernel ends every string at a NUL byte, so the rest would be lost silently. */
export const systemText = z
  .string()
  .refine((text) => !text.includes('\0'), 'must not contain a NUL byte')
  .meta({ pattern: '^[^\\u0000]*$' });

/** JSON can carry half a surrogate pair. UTF-8 cannot, and the file would contain U+FFFD instead. */
export const wholeText = z.string().refine((text) => text.isWellFormed(), 'must not contain half a surrogate pair');

/** An object that the descriptions of the API know by a name. */
export function namedObject<S extends z.ZodRawShape>(name: string, shape: S) {
  return z.object(shape).meta({ id: name });
}

export const clientId = z
  .string()
  .regex(clientIdPattern)
  .refine((id) => !reservedIds.has(id), 'is a word of a route');

/** At most a year. A longer value is a mistake in the unit. */
export const seconds = z.number().min(0).max(31_536_000);

export function milliseconds(value: number | null | undefined): number | null {
  return typeof value === 'number' ? value * 1000 : null;
}

/** The rule of `sameValue` in OpenAPI, which cannot compare values: a client sends only one of the two. */
export function oneOf(first: string, second: string) {
  return { description: `Takes ${first} or ${second}; both only with one value.`, not: { required: [first, second] } };
}

export const environment = z.record(
  systemText
    .min(1)
    .refine((name) => !name.includes('='), 'must not contain =')
    .meta({ pattern: '^[^\\u0000=]+$' }),
  systemText.nullable(),
);

export const cols = z.int().min(1).max(maxCols).describe('Columns.');
export const rows = z.int().min(1).max(maxRows).describe('Rows.');
