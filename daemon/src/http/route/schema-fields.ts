/** Reads the fields of a schema, and finds those of an input that the schema does not have. */
import { nearestName } from '../../kit/text/nearest.ts';
import type { ValidationError } from './envelope.ts';
import { fieldSynonyms } from './synonyms.ts';

/** What of a schema the checks read; the library keeps it to itself. */
export interface SchemaNode {
  readonly isInt?: boolean;
  readonly _zod: {
    readonly def: {
      readonly type: string;
      readonly innerType?: SchemaNode;
      readonly element?: SchemaNode;
      readonly valueType?: SchemaNode;
      /** The schema of an object's further fields. */
      readonly catchall?: SchemaNode | undefined;
      /** What a transformation reads. */
      readonly in?: SchemaNode;
      /** The alternatives of a union. */
      readonly options?: readonly SchemaNode[];
      /** The sides of an intersection. */
      readonly left?: SchemaNode;
      readonly right?: SchemaNode;
      readonly shape?: Readonly<Record<string, SchemaNode>>;
    };
  };
}

/** The schema inside `optional`, `default` and `nullable`. */
export function base(schema: SchemaNode | undefined): SchemaNode | undefined {
  const inner = schema?._zod.def.innerType;
  return inner === undefined ? schema : base(inner);
}

export function baseType(schema: unknown): string | null {
  return base(schema as SchemaNode | undefined)?._zod.def.type ?? null;
}

/** Names come from clients, so inherited properties such as `constructor` do not count as fields. */
export function ownValue<T>(fields: Readonly<Record<PropertyKey, T>> | object, name: PropertyKey): T | undefined {
  return Object.hasOwn(fields, name) ? (fields as Readonly<Record<PropertyKey, T>>)[name] : undefined;
}

/** Of alternatives, the fields of all count: an input may repeat one of another vocabulary. */
export function unknownFields(
  schemas: readonly SchemaNode[],
  input: unknown,
  location: string,
): readonly ValidationError[] {
  if (typeof input !== 'object' || input === null) return [];
  const parts = schemas.flatMap(partsOf).map(({ _zod }) => _zod.def);
  if (Array.isArray(input)) {
    const elements = parts.flatMap(({ element }) => (element ? [element] : []));
    return input.flatMap((entry: unknown, index) => unknownFields(elements, entry, `${location}.${index}`));
  }
  const takesAny = parts.some(
    ({ type, catchall }) => type === 'record' || type === 'unknown' || catchall !== undefined,
  );
  const shapes = parts.flatMap(({ shape }) => (shape ? [shape] : []));
  if (takesAny || shapes.length === 0) return [];
  return Object.entries(input).flatMap(([name, value]) => {
    const fields = shapes.map((shape) => ownValue(shape, name)).filter((field) => field !== undefined);
    if (fields.length === 0) return [unknownField(name, location, shapes, input)];
    return unknownFields(fields, value, `${location}.${name}`);
  });
}

/** The schemas that an input may be of: the alternatives of a union, the sides of an intersection. */
function partsOf(schema: SchemaNode): readonly SchemaNode[] {
  const inner = base(schema);
  const { options, left, right, in: source } = inner?._zod.def ?? {};
  const further = options ?? (left && right ? [left, right] : source ? [source] : null);
  return further === null ? (inner ? [inner] : []) : further.flatMap(partsOf);
}

function unknownField(name: string, location: string, shapes: readonly object[], input: object): ValidationError {
  const known = [...new Set(shapes.flatMap((shape) => Object.keys(shape)))];
  const [given, free] = [true, false].map((isGiven) =>
    known.filter((field) => Object.hasOwn(input, field) === isGiven),
  );
  const again = given?.find((field) => isAnotherForm(field, name));
  const meant = nearestName(name, free ?? [], fieldSynonyms());
  const advice = again
    ? `${again} is given already`
    : meant === null
      ? `the fields are ${listed(known)}`
      : `did you mean ${meant}?`;
  const [what, at] = isPlain(name)
    ? [`${name} is not a field`, `${location}.${name}`]
    : ['a name is not that of a field', location];
  const message = known.length === 0 ? `${what}; there are none` : `${what}; ${advice}`;
  return { location: at, message, type: 'unknown_field' };
}

/** `lang` of `language`, or `patterns` of `pattern`. */
function isAnotherForm(field: string, name: string): boolean {
  return name.length >= 3 && (field.startsWith(name) || name.startsWith(field));
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
