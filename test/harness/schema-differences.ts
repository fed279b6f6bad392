/** Compares two schemas of OpenAPI documents, and tells each difference by the place where it is. */

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

/** Where the schemas stand that others name. */
export interface SchemaSource {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** What is asked for has to be the same; what is answered has to be among what the reader expects. */
type Direction = 'request' | 'response';

export interface Comparison {
  readonly expected: SchemaSource;
  readonly found: SchemaSource;
  readonly direction: Direction;
}

/** A schema without its detours: one entry for each type that a value may have. */
type Variant = Schema & { readonly type: string };

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

function variantsOf(schema: Schema, document: SchemaSource): Variant[] {
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

/** Some only tell which fields are needed together, beside the fields themselves. */
function isAlternative(schema: Schema): boolean {
  return Object.keys(schema).join() !== 'required';
}

/** Whole numbers that are listed are integers, whatever they are called. */
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
  return direction === 'response' && isAmong ? [] : told(place, theirs.join('|'), ours.join('|'));
}

/** Null says nothing that absence would not: both documents leave such a default out as they like. */
function defaultDifferences(theirs: Schema, ours: Schema, place: string, direction: Direction): string[] {
  if (direction === 'response') return [];
  const tell = ({ default: value }: Schema): string =>
    (value ?? null) === null ? 'no default' : `default ${JSON.stringify(value)}`;
  return told(place, tell(theirs), tell(ours));
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
  const enums = direction === 'response' && isAmong ? [] : told(place, tellEnum(expected), tellEnum(found));
  return direction === 'response' ? enums : [...enums, ...boundDifferences(theirs, ours, place, bounds)];
}

/** Every value that is allowed, null when they are not listed. */
function enumOf(variants: readonly Variant[]): string[] | null {
  const lists = variants.map(({ enum: values }) => values);
  return lists.includes(undefined)
    ? null
    : lists.flatMap((values) => (values ?? []).map((value) => JSON.stringify(value)));
}

function tellEnum(values: readonly string[] | null): string {
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
  return names.flatMap((name) => told(place, read(theirs, name), read(ours, name)));
}

/** The schema library writes down what a number can hold at all. */
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

/** Several objects are held against each other in pairs, those that are most alike first. */
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

/** An answer has every field: whoever generated a client from the document may rely on them. */
function requiredDifferences(
  name: string,
  theirs: Variant,
  ours: Variant,
  place: string,
  direction: Direction,
): string[] {
  const tell = ({ required = [] }: Variant): string => (required.includes(name) ? 'required' : 'optional');
  return told(place, direction === 'response' ? 'required' : tell(theirs), tell(ours));
}

export function told(place: string, theirs: string, ours: string): string[] {
  return theirs === ours ? [] : [`${place}: ${theirs || 'nothing'}, here ${ours || 'nothing'}`];
}
