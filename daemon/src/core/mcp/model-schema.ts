/**
 * Rewrites the input schema of a tool into the subset of JSON Schema that the APIs of OpenAI, Anthropic and Gemini
 * share, because one schema that an API refuses makes it refuse the whole list of tools.
 *
 * Sources: Gemini, `Schema` of https://ai.google.dev/api/caching#Schema (an unknown keyword is 400; `enum` has texts
 * only); OpenAI, https://platform.openai.com/docs/guides/function-calling (an object at the top without
 * anyOf/oneOf/allOf/enum/not, `items` for each array; `strict` is added by its client, which needs nothing more);
 * Anthropic, https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use (the same top level, no
 * `$ref`, and names of properties of 1 to 64 letters, digits, `_`, `.` and `-`).
 *
 * A keyword that the subset lacks is written with others where these mean the same. Otherwise the schema becomes wider
 * and its description names the rule: the server of the tool validates the arguments anyway.
 */
import { percentDecoded } from '../../kit/text/percent.ts';
import { isFields, type Fields } from '../../kit/types/fields.ts';

type Schema = Record<string, unknown>;

/** The Python client of the protocol fails at about 200 levels of JSON, and then lists no tool at all. */
export const maxSchemaDepth = 64;
/** Expanded references may repeat their targets; OpenAI takes 5000 properties. */
const maxNodes = 5000;
const propertyName = /^[\w.-]{1,64}$/;
const maxRuleCharacters = 300;

/** Keywords of all three subsets that need no rewriting, and the type of their value; null for any. */
const plainKeywords: Readonly<Record<string, string | null>> = {
  ...{ title: 'string', description: 'string', pattern: 'string', default: null, nullable: 'boolean' },
  ...{ minimum: 'number', maximum: 'number', minLength: 'number', maxLength: 'number' },
  ...{ minItems: 'number', maxItems: 'number', minProperties: 'number', maxProperties: 'number' },
};
/** Keywords that say nothing about the arguments. */
const silentKeywords = new Set([
  ...['$schema', '$id', '$anchor', '$comment', '$defs', 'definitions', 'id', 'examples', 'example', 'deprecated'],
  ...['readOnly', 'writeOnly', '$vocabulary', '$dynamicAnchor', 'propertyOrdering'],
]);
const types = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);
const formats: Readonly<Record<string, readonly string[]>> = {
  string: ['date-time', 'enum'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
};

/** Why a schema cannot be rewritten. */
export class UnfitSchema extends Error {}

/** Throws `UnfitSchema`. */
export function modelSchema(schema: Fields): Fields {
  if (isDeeper(schema, maxSchemaDepth)) throw new UnfitSchema(`its schema is nested deeper than ${maxSchemaDepth}`);
  return new Rewriting(schema).top();
}

/** Whether a JSON value has more levels than that. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

interface Resolved {
  readonly fields: Fields;
  readonly path: readonly string[];
}

class Rewriting {
  #nodes = 0;

  constructor(private readonly root: Fields) {}

  /** The alternatives of the top level only say which arguments go together. */
  top(): Fields {
    const { fields, path } = this.#resolved({ ...this.root, type: 'object' }, []) ?? { fields: {}, path: [] };
    const { anyOf, oneOf, ...rest } = fields;
    const top = this.#plain({ ...rest, type: 'object' }, path);
    const properties = top['properties'] as Schema;
    for (const alternative of [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []))) {
      const inner = isFields(alternative) ? this.#resolved(alternative, path) : null;
      if (inner === null) continue;
      const more = this.#plain({ ...inner.fields, type: 'object' }, inner.path)['properties'] as Schema;
      for (const [name, property] of Object.entries(more)) properties[name] ??= property;
    }
    for (const [name, rule] of Object.entries({ anyOf, oneOf })) addRule(top, name, rule);
    return top;
  }

  /** `path` has the references that led here. */
  schema(value: unknown, path: readonly string[]): Schema {
    this.#nodes += 1;
    if (this.#nodes > maxNodes) throw new UnfitSchema(`its schema has more than ${maxNodes} parts`);
    // `true` and `{}` allow anything, `false` nothing; no subset has a word for either.
    if (!isFields(value)) return anything();
    const resolved = this.#resolved(value, path);
    if (resolved === null) return { type: 'object', properties: {}, description: `${String(value['$ref'])}, again.` };
    const alternatives = alternativesOf(resolved.fields);
    return alternatives === null
      ? this.#plain(resolved.fields, resolved.path)
      : this.#union(resolved.fields, alternatives, resolved.path);
  }

  /** The schema with the target of its reference and all parts of `allOf` in place; null inside of itself. */
  #resolved(value: Fields, path: readonly string[]): Resolved | null {
    const { $ref, allOf, ...rest } = value;
    if (typeof $ref === 'string') {
      if (path.includes($ref)) return null;
      return this.#resolved(both(this.#target($ref), { ...rest, ...(allOf !== undefined && { allOf }) }), [
        ...path,
        $ref,
      ]);
    }
    if (!Array.isArray(allOf)) return { fields: rest, path };
    return (allOf as readonly unknown[]).reduce<Resolved>(
      (all, one) => {
        const inner = isFields(one) ? this.#resolved(one, path) : null;
        return inner === null ? all : { fields: both(inner.fields, all.fields), path: [...all.path, ...inner.path] };
      },
      { fields: rest, path },
    );
  }

  #target($ref: string): Fields {
    const names = $ref
      .replace(/^#\/?/, '')
      .split('/')
      .filter((part) => part !== '');
    const found = names.reduce<unknown>((at, name) => {
      const key = decodePointer(name);
      return isFields(at) && Object.hasOwn(at, key) ? at[key] : undefined;
    }, this.root);
    if (!$ref.startsWith('#') || !isFields(found)) throw new UnfitSchema(`its schema refers to ${shortRule($ref)}`);
    return found;
  }

  #union(value: Fields, alternatives: readonly unknown[], path: readonly string[]): Schema {
    const { anyOf: _any, oneOf: _one, type: _type, description, title, default: fallback, ...rest } = value;
    const shown = { description, title, default: fallback };
    const kept = Object.fromEntries(Object.entries(shown).filter(([, text]) => text !== undefined));
    const inner = alternatives.map((one) => this.schema(isFields(one) ? both(rest, one) : one, path));
    return inner.length === 1 ? { ...inner[0], ...kept } : { ...kept, anyOf: inner };
  }

  #plain(value: Fields, path: readonly string[]): Schema {
    const type = typeOf(value);
    if (type === null) return { ...anything(), ...this.#kept(value, 'string') };
    const schema: Schema = { type, ...this.#kept(value, type) };
    if (type === 'object') this.#addProperties(schema, value, path);
    if (type === 'array') this.#addItems(schema, value, path);
    return schema;
  }

  #kept(value: Fields, type: string): Schema {
    const schema: Schema = {};
    const rules: [string, unknown][] = [];
    for (const [name, inner] of Object.entries(value)) {
      const plain = Object.hasOwn(plainKeywords, name) ? plainKeywords[name] : undefined;
      if (plain === null || (plain !== undefined && typeof inner === plain)) schema[name] = inner;
      else if (name === 'enum' || name === 'const') addEnum(schema, type, name === 'const' ? [inner] : inner, rules);
      else if (name === 'exclusiveMinimum' || name === 'exclusiveMaximum') addBound(schema, type, name, inner, rules);
      else if (name === 'format' && formats[type]?.includes(String(inner))) schema['format'] = inner;
      else if (plain === undefined && isRule(name)) rules.push([name, inner]);
    }
    for (const [name, rule] of rules) addRule(schema, name, rule);
    return schema;
  }

  #addProperties(schema: Schema, value: Fields, path: readonly string[]): void {
    const properties = isFields(value['properties']) ? value['properties'] : {};
    const unfit = Object.keys(properties).find((name) => !propertyName.test(name));
    if (unfit !== undefined) throw new UnfitSchema(`its property ${shortRule(unfit)} has a name that no API takes`);
    schema['properties'] = Object.fromEntries(
      Object.entries(properties).map(([name, inner]) => [name, this.schema(inner, path)]),
    );
    const required = Array.isArray(value['required']) ? value['required'] : [];
    const known = required.filter((name) => typeof name === 'string' && Object.hasOwn(properties, name));
    if (known.length > 0) schema['required'] = known;
    const { additionalProperties, patternProperties } = value;
    if (isFields(additionalProperties)) addRule(schema, 'additionalProperties', additionalProperties);
    if (patternProperties !== undefined) addRule(schema, 'patternProperties', patternProperties);
  }

  /** A tuple becomes a list of its types, of its length. */
  #addItems(schema: Schema, value: Fields, path: readonly string[]): void {
    const { prefixItems, items } = value;
    const tuple = [prefixItems, items].find((list) => Array.isArray(list)) as readonly unknown[] | undefined;
    if (tuple === undefined || tuple.length === 0) {
      schema['items'] = this.schema(items, path);
      return;
    }
    const distinct = new Map(tuple.map((one) => [JSON.stringify(one), one]));
    schema['items'] = this.schema(distinct.size === 1 ? tuple[0] : { anyOf: [...distinct.values()] }, path);
    addRule(schema, 'prefixItems', tuple);
    if (items === false) schema['maxItems'] ??= tuple.length;
  }
}

function anything(): Schema {
  const scalars = ['string', 'number', 'boolean'].map((type) => ({ type }));
  return { anyOf: [...scalars, { type: 'object', properties: {} }, { type: 'array', items: { type: 'string' } }] };
}

/** The alternatives of a schema, a list of types among them; null for a schema of one type. */
function alternativesOf({ anyOf, oneOf, type }: Fields): readonly unknown[] | null {
  const listed = [anyOf, oneOf].find((list) => Array.isArray(list) && list.length > 0);
  if (listed !== undefined) return listed as readonly unknown[];
  if (!Array.isArray(type)) return null;
  return type.length === 0 ? null : type.map((one: unknown) => ({ type: one }));
}

/** The type of a schema that does not name it, by its other keywords. */
function typeOf(value: Fields): string | null {
  const { type, enum: values, const: only } = value;
  if (typeof type === 'string') {
    if (types.has(type)) return type;
    throw new UnfitSchema(`its schema has the type ${shortRule(type)}`);
  }
  if ('properties' in value || 'additionalProperties' in value || 'patternProperties' in value) return 'object';
  if ('items' in value || 'prefixItems' in value) return 'array';
  const listed = Array.isArray(values) ? values : 'const' in value ? [only] : [];
  const named = new Set(listed.map((one) => (one === null ? 'null' : typeof one)));
  if (named.size === 1) return [...named].find((name) => types.has(name)) ?? null;
  if ('pattern' in value || 'minLength' in value || 'maxLength' in value || 'format' in value) return 'string';
  return ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].some((name) => name in value) ? 'number' : null;
}

/** One schema that requires what both require; where they contradict each other, the second wins. */
function both(one: Fields, other: Fields): Fields {
  const isFieldsPair = (name: string) => isFields(one[name]) && isFields(other[name]);
  const merged: Schema = { ...one, ...other };
  for (const name of ['properties', 'patternProperties', '$defs'])
    if (isFieldsPair(name)) merged[name] = { ...(one[name] as object), ...(other[name] as object) };
  const required = [one['required'], other['required']].flatMap((list) => (Array.isArray(list) ? list : []));
  if (required.length > 0) merged['required'] = [...new Set(required)];
  return merged;
}

/** Only texts may be listed; other values go into the description. */
function addEnum(schema: Schema, type: string, values: unknown, rules: [string, unknown][]): void {
  const listed = Array.isArray(values) ? values.filter((value) => value !== null) : [];
  const isText = type === 'string' && listed.length > 0 && listed.every((one) => typeof one === 'string' && one !== '');
  if (isText) schema['enum'] = listed;
  else rules.push(['enum', values]);
}

/** The next whole number is the same bound. Of other numbers, the bound itself is allowed in addition. */
function addBound(schema: Schema, type: string, name: string, bound: unknown, rules: [string, unknown][]): void {
  const isLower = name === 'exclusiveMinimum';
  const inclusive = isLower ? 'minimum' : 'maximum';
  if (typeof bound !== 'number') return; // Draft 4 has a boolean here, beside an inclusive bound.
  const isWhole = type === 'integer' && Number.isInteger(bound);
  if (!isWhole) rules.push([name, bound]);
  if (!(inclusive in schema)) schema[inclusive] = isWhole ? bound + (isLower ? 1 : -1) : bound;
}

/** Whether an unknown keyword limits the arguments, so that the description must name it. */
function isRule(name: string): boolean {
  const own = ['type', 'properties', 'required', 'items', 'prefixItems', 'additionalProperties', 'patternProperties'];
  return !silentKeywords.has(name) && !name.startsWith('x-') && !own.includes(name);
}

function addRule(schema: Schema, name: string, rule: unknown): void {
  if (rule === undefined || rule === false) return;
  const text = `${name}: ${shortRule(rule)}`;
  const before = typeof schema['description'] === 'string' ? `${schema['description']} ` : '';
  schema['description'] = `${before}(${text})`;
}

function shortRule(rule: unknown): string {
  const text = JSON.stringify(rule) ?? '';
  return text.length > maxRuleCharacters ? `${text.slice(0, maxRuleCharacters).toWellFormed()}…` : text;
}

function decodePointer(part: string): string {
  return percentDecoded(part.replaceAll('~1', '/').replaceAll('~0', '~'));
}
