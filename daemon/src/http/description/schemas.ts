/** Turns schemas into JSON Schema as the generators of clients take it, and collects the named ones. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

export type Json = Record<string, unknown>;

/** What is sent to the daemon, where unknown fields are refused or not, and what it answers. */
type Direction = 'input' | 'open' | 'output';

export class Schemas {
  readonly all: Json = {};

  /** `suffix` follows each name of v1: one document describes two surfaces that use the same names. */
  constructor(private readonly suffix = '') {}

  /** A reference to the schema, under its own id or else this name. */
  named(schema: z.ZodType, io: Direction, name: string): Json {
    const described = this.inline(schema, io, name);
    return '$ref' in described ? described : this.add(name, described);
  }

  /** The schema itself, or a reference where it has an id. Alternatives within it get names that begin with `name`. */
  inline(schema: z.ZodType, io: Direction, name: string): Json {
    const whole = z.toJSONSchema(schema, { io: io === 'output' ? io : 'input', unrepresentable: 'any' }) as Json;
    const { $schema: _dialect, $defs = {}, ...rest } = whole;
    const alternatives = new Set(namesOfAlternatives(whole));
    for (const [id, definition] of Object.entries($defs as Json)) {
      this.add(id, this.#plain(definition, { io, name: id, isPart: alternatives.has(id) }));
    }
    const { id } = rest;
    const plain = this.#plain(rest, { io, name: typeof id === 'string' ? id : name, isPart: false }) as Json;
    return typeof id === 'string' ? this.add(id, plain) : plain;
  }

  /** The schema that a reference stands for. */
  resolved(schema: Json): Json {
    const { $ref } = schema;
    return typeof $ref === 'string' ? (this.all[nameIn($ref)] as Json) : schema;
  }

  add(given: string, schema: unknown): Json {
    const name = `${given}${this.suffix}`;
    if (name in this.all && !isDeepStrictEqual(this.all[name], schema))
      throw new Error(`two schemas are called ${name}`);
    this.all[name] = schema;
    return { $ref: `#/components/schemas/${name}` };
  }

  #plain(value: unknown, at: Place): unknown {
    if (Array.isArray(value)) return value.map((entry) => this.#plain(entry, at));
    if (typeof value !== 'object' || value === null) return value;
    const { id: _id, ...node } = value as Json;
    // `contentEncoding` says the same, and generators know that.
    if (node['format'] === 'base64') delete node['format'];
    if (typeof node['$ref'] === 'string') {
      return { ...node, $ref: `${node['$ref'].replace('#/$defs/', '#/components/schemas/')}${this.suffix}` };
    }
    const isV2 = this.suffix === '';
    const { properties, ...others } = asList(withoutBounds(isV2 ? withoutRules(asSent(node, at)) : node, isV2));
    const parts = Object.entries(others).map(([key, inner]) => {
      return [key, key === rulesKey ? inner : this.#plain(inner, { ...at, isPart: isUnion(key, inner) })];
    });
    const plain = Object.fromEntries(parts) as Json;
    if (properties !== undefined) {
      const fields = Object.entries(properties as Json).map(([field, inner]) => {
        return [field, this.#plain(inner, { ...at, name: `${at.name}${pascal(field)}`, isPart: false })];
      });
      plain['properties'] = Object.fromEntries(fields);
    }
    return this.#discriminated(plain, at.name);
  }

  /** Names the alternatives that a field tells apart: generators make one type of each, and choose by the field. */
  #discriminated(node: Json, name: string): Json {
    const options = node['oneOf'] as readonly Json[] | undefined;
    if (!options) return node;
    const shapes = options.map((option) => this.resolved(option));
    const propertyName = Object.keys(fieldsOf(shapes[0])).find((field) =>
      shapes.every((shape) => typeof fieldsOf(shape)[field]?.const === 'string'),
    );
    if (propertyName === undefined) return node;
    const references = options.map((option, index): [string, Json] => {
      const value = String(fieldsOf(shapes[index])[propertyName]?.const);
      return [value, '$ref' in option ? option : this.add(`${name}${pascal(value.toLowerCase())}`, option)];
    });
    const mapping = Object.fromEntries(references.map(([value, { $ref }]) => [value, $ref]));
    return { ...node, oneOf: references.map(([, reference]) => reference), discriminator: { propertyName, mapping } };
  }
}

type FieldSchemas = Readonly<Record<string, { readonly const?: unknown } | undefined>>;

function fieldsOf(schema: Json | undefined): FieldSchemas {
  return (schema?.['properties'] as FieldSchemas | undefined) ?? {};
}

/** Where a schema stands. */
interface Place {
  readonly io: Direction;
  /** The names of alternatives begin with it. */
  readonly name: string;
  /** One of several alternatives, or a side of an intersection: other parts have further fields. */
  readonly isPart: boolean;
}

function isUnion(key: string, parts: unknown): boolean {
  if (key !== 'anyOf' && key !== 'oneOf' && key !== 'allOf') return false;
  return (parts as readonly Json[]).filter(({ type }) => type !== 'null').length > 1;
}

/** The definitions that are alternatives somewhere. */
function namesOfAlternatives(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, inner]) => [
    ...(isUnion(key, inner) ? (inner as readonly Json[]).flatMap(({ $ref }) => ($ref ? [nameIn($ref)] : [])) : []),
    ...namesOfAlternatives(inner),
  ]);
}

function nameIn($ref: unknown): string {
  return String($ref).slice(String($ref).lastIndexOf('/') + 1);
}

/** Unknown fields of a request are refused. What is answered is always there, and a later version may answer more. */
function asSent(node: Json, { io, isPart }: Place): Json {
  const { default: _value, additionalProperties, ...rest } = node;
  if (io === 'output')
    return additionalProperties === false || additionalProperties === undefined
      ? rest
      : { ...rest, additionalProperties };
  const isClosed = io === 'input' && node['properties'] !== undefined && additionalProperties === undefined && !isPart;
  return isClosed ? { ...node, additionalProperties: false } : node;
}

const rulesKey = 'x-rules';

/** Which fields go together: generators take such a rule for a type without fields, so it stands aside. */
function withoutRules(node: Json): Json {
  const entries = Object.entries(node);
  const rules = entries.filter(([key, inner]) => isRule(key, inner));
  if (rules.length === 0) return node;
  const others = entries.filter((entry) => !rules.includes(entry));
  return { ...Object.fromEntries(others), [rulesKey]: rules.map(([key, inner]) => ({ [key]: inner })) };
}

function isRule(key: string, value: unknown): boolean {
  if (key === 'not') return true;
  if (key !== 'anyOf' && key !== 'allOf') return false;
  return (value as readonly Json[]).every((part) =>
    Object.entries(part).every(([inner, rule]) => inner === 'required' || isRule(inner, rule)),
  );
}

/** The range of whole numbers that JSON carries exactly is what every generator takes for its large type. */
function withoutBounds(node: Json, hasFormats: boolean): Json {
  const { maximum, minimum, ...rest } = node;
  if (node['type'] !== 'integer') return node;
  const isWide = maximum === Number.MAX_SAFE_INTEGER;
  return {
    ...rest,
    ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum }),
    ...(maximum !== undefined && !isWide && { maximum }),
    ...(isWide && hasFormats && { format: 'int64' }),
  };
}

/** A tuple of equal parts is a list of that length. */
function asList(node: Json): Json {
  const { prefixItems, items: _none, ...rest } = node;
  if (!Array.isArray(prefixItems)) return node;
  const [first, ...others] = prefixItems as readonly unknown[];
  if (!others.every((part) => isDeepStrictEqual(part, first))) return node;
  return { ...rest, items: first, minItems: prefixItems.length, maxItems: prefixItems.length };
}

/** `snake_case` and `dotted.names` as the name of a type. */
export function pascal(name: string): string {
  return name.replaceAll(/(?:^|[^A-Za-z\d])+([A-Za-z\d])/g, (_match, letter: string) => letter.toUpperCase());
}
