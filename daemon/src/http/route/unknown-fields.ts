/** Finds the fields of an input that its schema does not have, and the names that were probably meant. */
import { nearestName } from '../../kit/text/nearest.ts';
import type { ValidationError } from './envelope.ts';
import { fieldSynonyms } from './synonyms.ts';
import { base, ownValue, type SchemaNode } from './schema-node.ts';

/** Of alternatives, the fields of all count: an input may repeat one of another vocabulary. */
export function unknownFields(schema: SchemaNode, input: unknown, place: string): ValidationError[] {
  return unknownIn([schema], input, place);
}

function unknownIn(schemas: readonly SchemaNode[], input: unknown, location: string): ValidationError[] {
  if (typeof input !== 'object' || input === null) return [];
  const parts = schemas.flatMap(partsOf).map(({ _zod }) => _zod.def);
  if (Array.isArray(input)) {
    const elements = parts.flatMap(({ element }) => (element ? [element] : []));
    return input.flatMap((entry: unknown, index) => unknownIn(elements, entry, `${location}.${index}`));
  }
  const takesAny = parts.some(
    ({ type, catchall }) => type === 'record' || type === 'unknown' || catchall !== undefined,
  );
  const shapes = parts.flatMap(({ shape }) => (shape ? [shape] : []));
  if (takesAny || shapes.length === 0) return [];
  return Object.entries(input).flatMap(([name, value]) => {
    const fields = shapes.map((shape) => ownValue(shape, name)).filter((field) => field !== undefined);
    const at = isPlain(name) ? `${location}.${name}` : location;
    return fields.length === 0 ? [unknownField(name, at, shapes, input)] : unknownIn(fields, value, at);
  });
}

/** The schemas that an input may be of: the alternatives of a union, the sides of an intersection. */
function partsOf(schema: SchemaNode): readonly SchemaNode[] {
  const inner = base(schema);
  const { options, left, right, in: source } = inner?._zod.def ?? {};
  const further = options ?? (left && right ? [left, right] : source ? [source] : null);
  return further === null ? (inner ? [inner] : []) : further.flatMap(partsOf);
}

/** A field that the input has already is not the one that was meant. */
function unknownField(name: string, location: string, shapes: readonly object[], input: object): ValidationError {
  const known = [...new Set(shapes.flatMap((shape) => Object.keys(shape)))];
  const free = known.filter((field) => !Object.hasOwn(input, field));
  const meant = nearestName(name, free, fieldSynonyms());
  const advice = meant === null ? `the fields are ${listed(known)}` : `did you mean ${meant}?`;
  const what = isPlain(name) ? `${name} is not a field` : 'a name is not that of a field';
  const message = known.length === 0 ? `${what}; there are none` : `${what}; ${advice}`;
  return { location, message, type: 'unknown_field' };
}

const maxListed = 30;

function listed(names: readonly string[]): string {
  return `${names.slice(0, maxListed).join(', ')}${names.length > maxListed ? ', …' : ''}`;
}

const maxPlainCharacters = 40;

/** A name that a person would write. Anything else may be a secret in the wrong place, which no answer repeats. */
function isPlain(name: string): boolean {
  return name.length <= maxPlainCharacters && /^_{0,2}[A-Za-z]+(?:[_.-]?[A-Za-z]+)*\d{0,2}_{0,2}$/.test(name);
}
