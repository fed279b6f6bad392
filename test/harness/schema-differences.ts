/** Compares two schemas of OpenAPI documents, and reports each difference with its location. */

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
}

/** The document part that holds referenced schemas. */
export interface SchemaSource {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Request schemas have to be equal. A response schema may be narrower than the expected one. */
type Direction = 'request' | 'response';

export interface Comparison {
  readonly expected: SchemaSource;
  readonly found: SchemaSource;
  readonly direction: Direction;
}

/** A schema with references and alternatives resolved: one entry for each type that a value may have. */
export type Variant = Schema & { readonly type: string };

export function schemaDifferences(theirs: Schema, ours: Schema, place: string, comparison: Comparison): string[] {
  const { expected, found, direction } = comparison;
  const [wanted, given] = [variantsOf(theirs, expected), variantsOf(ours, found)];
  const isForeseen = direction === 'response' && typesOf(wanted).includes('any');
  if (isForeseen) return [];
  return [
    ...typeDifferences(wanted, given, place, direction),
    ...defaultDifferences(theirs, ours, place, direction),
    ...['string', 'integer', 'number'].flatMap((type) => scalarDifferences(type, wanted, given, place, direction)),
    ...listDifferences(wanted, given, place, comparison),
    ...objectDifferences(wanted, given, place, comparison),
  ];
}

export function variantsOf(schema: Schema, document: SchemaSource): Variant[] {
  if (schema.$ref !== undefined) {
    const named = document.components.schemas[schema.$ref.replace('#/components/schemas/', '')];
    if (!named) throw new Error(`${schema.$ref} is not described`);
    return variantsOf(named, document);
  }
  const alternatives = (schema.anyOf ?? schema.oneOf ?? []).filter(isAlternative);
  if (alternatives.length > 0) return alternatives.flatMap((alternative) => variantsOf(alternative, document));
  const values = schema.const === undefined ? schema.enum : [schema.const];
  const types = [schema.type ?? (values ? values.map((value) => typeof value) : 'any')].flat();
  return [...new Set(types)].map((type) => ({
    ...schema,
    ...(values && { enum: values }),
    type: exactType(type, values),
  }));
}

/** Some alternatives only list which fields are required together. */
function isAlternative(schema: Schema): boolean {
  return Object.keys(schema).join() !== 'required';
}

/** Enumerated whole numbers count as integers, whatever type the schema declares. */
function exactType(type: string, values: readonly unknown[] | undefined): string {
  return type === 'number' && values?.every(Number.isInteger) === true ? 'integer' : type;
}

function typesOf(variants: readonly Variant[]): string[] {
  return [...new Set(variants.map(({ type }) => type))].toSorted();
}

function typeDifferences(
  wanted: readonly Variant[],
  given: readonly Variant[],
  place: string,
  direction: Direction,
): string[] {
  const [theirs, ours] = [typesOf(wanted), typesOf(given)];
  const isAmong = ours.every((type) => theirs.includes(type) || (type === 'integer' && theirs.includes('number')));
  return direction === 'response' && isAmong ? [] : differenceOf(place, theirs.join('|'), ours.join('|'));
}

/** A null default means the same as no default, and the documents differ in writing it. */
function defaultDifferences(theirs: Schema, ours: Schema, place: string, direction: Direction): string[] {
  if (direction === 'response') return [];
  const describe = ({ default: value }: Schema): string =>
    (value ?? null) === null ? 'no default' : `default ${JSON.stringify(value)}`;
  return differenceOf(place, describe(theirs), describe(ours));
}

const bounds = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minLength',
  'maxLength',
  'pattern',
  'format',
];

function scalarDifferences(
  type: string,
  wanted: readonly Variant[],
  given: readonly Variant[],
  place: string,
  direction: Direction,
): string[] {
  const [theirs, ours] = [wanted, given].map((variants) => variants.filter((variant) => variant.type === type));
  if (!theirs?.length || !ours?.length) return [];
  const [expected, found] = [enumOf(theirs), enumOf(ours)];
  const isAmong = expected === null || found?.every((value) => expected.includes(value));
  const enums =
    direction === 'response' && isAmong ? [] : differenceOf(place, describeEnum(expected), describeEnum(found));
  return direction === 'response' ? enums : [...enums, ...boundDifferences(theirs, ours, place, bounds)];
}

/** All allowed values. Null when they are not enumerated. */
function enumOf(variants: readonly Variant[]): string[] | null {
  const lists = variants.map(({ enum: values }) => values);
  return lists.includes(undefined)
    ? null
    : lists.flatMap((values) => (values ?? []).map((value) => JSON.stringify(value)));
}

function describeEnum(values: readonly string[] | null): string {
  return values === null ? 'any value' : `one of ${values.toSorted().join(', ')}`;
}

function boundDifferences(
  theirs: readonly Variant[],
  ours: readonly Variant[],
  place: string,
  names: readonly string[],
): string[] {
  const read = (variants: readonly Variant[], name: string): string => {
    const values = variants.map((variant) => (variant as unknown as Record<string, unknown>)[name]);
    const said = values.filter((value) => value !== undefined && !isBoundOfEveryInteger(value));
    return said.length === 0 ? `no ${name}` : `${name} ${said.map((value) => JSON.stringify(value)).join(', ')}`;
  };
  return names.flatMap((name) => differenceOf(place, read(theirs, name), read(ours, name)));
}

/** The schema library writes the safe-integer range as bounds. */
function isBoundOfEveryInteger(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) === Number.MAX_SAFE_INTEGER;
}

function listDifferences(
  wanted: readonly Variant[],
  given: readonly Variant[],
  place: string,
  comparison: Comparison,
): string[] {
  const [theirs, ours] = [wanted, given].map((variants) => variants.find(({ type }) => type === 'array'));
  if (!theirs || !ours) return [];
  const isRequest = comparison.direction === 'request';
  return [
    ...(isRequest ? boundDifferences([theirs], [ours], place, ['minItems', 'maxItems']) : []),
    ...schemaDifferences(theirs.items ?? {}, ours.items ?? {}, `${place}[]`, comparison),
  ];
}

/** Several objects are compared in pairs, most similar first. */
function objectDifferences(
  wanted: readonly Variant[],
  given: readonly Variant[],
  place: string,
  comparison: Comparison,
): string[] {
  const [theirs, ours] = [wanted, given].map((variants) => variants.filter(({ type }) => type === 'object'));
  const pairs = (theirs ?? []).flatMap((one) =>
    (ours ?? []).map((other) => ({ one, other, lines: fieldDifferences(one, other, place, comparison) })),
  );
  const paired = new Set<Variant>();
  const take = (isFree: (pair: (typeof pairs)[number]) => boolean): string[] =>
    pairs
      .toSorted((a, b) => a.lines.length - b.lines.length)
      .flatMap((pair) => {
        if (!isFree(pair)) return [];
        paired.add(pair.one).add(pair.other);
        return pair.lines;
      });
  return [
    ...take(({ one, other }) => !paired.has(one) && !paired.has(other)),
    ...take(({ one, other }) => !paired.has(one) || !paired.has(other)),
  ];
}

function fieldDifferences(theirs: Variant, ours: Variant, place: string, comparison: Comparison): string[] {
  const names = new Set([...Object.keys(theirs.properties ?? {}), ...Object.keys(ours.properties ?? {})]);
  const fields = [...names].flatMap((name) => {
    const [wanted, given] = [theirs.properties?.[name], ours.properties?.[name]];
    if (!wanted) return [`${place}.${name}: not there, here it is`];
    if (!given) return [`${place}.${name}: is missing here`];
    return [
      ...requiredDifferences(name, theirs, ours, `${place}.${name}`, comparison.direction),
      ...schemaDifferences(wanted, given, `${place}.${name}`, comparison),
    ];
  });
  const [wantedValues, givenValues] = [valuesOf(theirs), valuesOf(ours)];
  return [...fields, ...schemaDifferences(wantedValues, givenValues, `${place}.*`, comparison)];
}

function valuesOf({ additionalProperties: values }: Variant): Schema {
  return typeof values === 'object' ? values : {};
}

/** A client generated from the document may rely on every field of an answer. */
function requiredDifferences(
  name: string,
  theirs: Variant,
  ours: Variant,
  place: string,
  direction: Direction,
): string[] {
  const describe = ({ required = [] }: Variant): string => (required.includes(name) ? 'required' : 'optional');
  return differenceOf(place, direction === 'response' ? 'required' : describe(theirs), describe(ours));
}

export function differenceOf(place: string, theirs: string, ours: string): string[] {
  return theirs === ours ? [] : [`${place}: ${theirs || 'nothing'}, here ${ours || 'nothing'}`];
}
