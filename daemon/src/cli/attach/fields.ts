/** Validates the fields of a frame, because the address may lead to another version or another program. */
import { isFields, type Fields } from '../../kit/types/fields.ts';

export function record(value: unknown): Fields {
  if (!isFields(value)) throw new TypeError('an object was expected');
  return value;
}

export function text(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('a text was expected');
  return value;
}

export function number(value: unknown): number {
  if (typeof value !== 'number') throw new TypeError('a number was expected');
  return value;
}

export function textOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : text(value);
}

export function numberOrNull(value: unknown): number | null {
  return value === null || value === undefined ? null : number(value);
}
