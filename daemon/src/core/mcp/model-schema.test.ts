/** The schemas that the hub offers are in the subset of every model API, or refused with a reason. */
import { expect, test } from 'bun:test';
import { modelSchema } from './model-schema.ts';
import { nameForModels, readTool } from './tool-definition.ts';

type Json = Record<string, unknown>;

/** The schema of one property, after it has passed the hub. */
function property(schema: unknown, root: Json = {}): unknown {
  return (modelSchema({ type: 'object', properties: { a: schema }, ...root })['properties'] as Json)['a'];
}

const reasonOf = (inputSchema: Json) => {
  const read = readTool({ name: 'a', inputSchema }, false);
  return 'reason' in read ? read.reason : null;
};

/** The keywords of Gemini's Schema, the smallest of the subsets. */
const geminiKeywords = new Set(
  (
    'type format title description nullable enum items maxItems minItems properties required minProperties ' +
    'maxProperties minLength maxLength pattern anyOf default minimum maximum'
  ).split(' '),
);

/** Every rule of the three subsets that a schema breaks, with its place. */
function faults(value: unknown, place = ''): string[] {
  const schema = value as Json;
  const found = Object.keys(schema)
    .filter((name) => !geminiKeywords.has(name))
    .map((name) => `${place}: the keyword ${name}`);
  const { type, anyOf, items, properties, enum: values, required = [], format } = schema;
  if ((typeof type === 'string') === Array.isArray(anyOf)) found.push(`${place}: one of type and anyOf`);
  if (place === '' && (type !== 'object' || anyOf)) found.push('the top level is not one object');
  if (type === 'array' && items === undefined) found.push(`${place}: an array without items`);
  if (type === 'object' && properties === undefined) found.push(`${place}: an object without properties`);
  if (values && (type !== 'string' || !(values as unknown[]).every((one) => typeof one === 'string' && one !== '')))
    found.push(`${place}: an enum of other values than texts`);
  if (typeof format === 'string' && !/^(date-time|enum|float|double|int32|int64)$/.test(format))
    found.push(`${place}: ${format}`);
  for (const name of required as string[])
    if (!Object.hasOwn(Object(properties) as object, name)) found.push(`${place}: ${name} is required and unknown`);
  for (const [name, inner] of Object.entries((properties ?? {}) as Json)) {
    if (!/^[\w.-]{1,64}$/.test(name)) found.push(`${place}: the name ${name}`);
    found.push(...faults(inner, `${place}.${name}`));
  }
  for (const inner of (anyOf as unknown[] | undefined) ?? []) found.push(...faults(inner, `${place}|`));
  if (items !== undefined) found.push(...faults(items, `${place}[]`));
  return found;
}

test('a schema inside the subset stays as it is', () => {
  const schema = {
    type: 'object',
    description: 'What to do.',
    properties: {
      path: { type: 'string', minLength: 1, maxLength: 9, pattern: '^/', default: '/', title: 'Path' },
      when: { type: 'string', format: 'date-time' },
      how: { type: 'string', enum: ['a', 'b'] },
      count: { type: 'integer', minimum: 1, maximum: 5, format: 'int32' },
      list: { type: 'array', items: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] } },
      either: { description: 'One of two.', anyOf: [{ type: 'string' }, { type: 'null' }] },
    },
    required: ['path'],
  };
  expect<unknown>(modelSchema(schema)).toEqual(schema);
});

test('keywords outside of the subset become others, and the description names what these do not say', () => {
  const cases: [unknown, unknown][] = [
    [
      { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 9 },
      { type: 'integer', minimum: 1, maximum: 8 },
    ],
    [
      { type: 'number', description: 'Seconds.', exclusiveMinimum: 0 },
      { type: 'number', minimum: 0, description: 'Seconds. (exclusiveMinimum: 0)' },
    ],
    [{ const: 'x' }, { type: 'string', enum: ['x'] }],
    [{ const: 3 }, { type: 'number', description: '(enum: [3])' }],
    [
      { type: 'integer', enum: [1, 2] },
      { type: 'integer', description: '(enum: [1,2])' },
    ],
    [{ type: ['string', 'null'] }, { anyOf: [{ type: 'string' }, { type: 'null' }] }],
    [
      { type: ['string', 'integer'], description: 'Id.', minimum: 1 },
      {
        description: 'Id.',
        anyOf: [
          { type: 'string', minimum: 1 },
          { type: 'integer', minimum: 1 },
        ],
      },
    ],
    [{ oneOf: [{ type: 'string' }, { const: 'a' }] }, { anyOf: [{ type: 'string' }, { type: 'string', enum: ['a'] }] }],
    [
      { type: 'string', format: 'uri' },
      { type: 'string', description: '(format: "uri")' },
    ],
    [{ type: 'array' }, { type: 'array', items: expect.objectContaining({ anyOf: expect.anything() }) }],
    [
      { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }], items: false },
      { type: 'array', items: { type: 'number' }, maxItems: 2, description: expect.stringContaining('prefixItems') },
    ],
    [
      { type: 'array', items: { type: 'string' }, uniqueItems: true, contains: { const: 'x' } },
      { type: 'array', items: { type: 'string' }, description: '(uniqueItems: true) (contains: {"const":"x"})' },
    ],
    [
      { type: 'object', patternProperties: { '^x': { type: 'string' } }, additionalProperties: false },
      { type: 'object', properties: {}, description: '(patternProperties: {"^x":{"type":"string"}})' },
    ],
    [{ additionalProperties: { type: 'string' } }, { type: 'object', properties: {}, description: expect.any(String) }],
    [
      { allOf: [{ properties: { x: { type: 'string' } }, required: ['x'] }, { properties: { y: { type: 'null' } } }] },
      { type: 'object', properties: { x: { type: 'string' }, y: { type: 'null' } }, required: ['x'] },
    ],
    [{ properties: { x: { type: 'string' } }, required: ['x', 'y'] }, expect.objectContaining({ required: ['x'] })],
    [{ type: 'string', $comment: 'a', examples: ['b'], readOnly: true, 'x-own': 1 }, { type: 'string' }],
    [
      { not: { type: 'string' }, type: 'number' },
      { type: 'number', description: '(not: {"type":"string"})' },
    ],
  ];
  for (const [schema, rewritten] of cases) expect([schema, property(schema)]).toEqual([schema, rewritten]);
});

test('references are written out, and a schema that contains itself ends with any object', () => {
  const $defs = {
    'a/b %': { type: 'string', description: 'Named.' },
    node: { type: 'object', properties: { value: { $ref: '#/$defs/a~1b%20%25' }, next: { $ref: '#/$defs/node' } } },
  };
  expect(property({ $ref: '#/$defs/node', description: 'First.' }, { $defs })).toEqual({
    type: 'object',
    description: 'First.',
    properties: {
      value: { type: 'string', description: 'Named.' },
      next: { type: 'object', properties: {}, description: '#/$defs/node, again.' },
    },
  });
  expect(reasonOf({ type: 'object', properties: { a: { $ref: 'https://x.example/s.json' } } })).toContain('refers to');
  expect(reasonOf({ type: 'object', properties: { a: { $ref: '#/$defs/none' } } })).toContain('refers to');
});

test('the alternatives of the top level keep their properties, and the description names them', () => {
  const schema = modelSchema({
    type: 'object',
    properties: { id: { type: 'string' } },
    oneOf: [{ required: ['id'] }, { properties: { name: { type: 'string' } }, required: ['name'] }],
    not: { required: ['id', 'name'] },
  });
  expect(schema).toMatchObject({ type: 'object', properties: { id: { type: 'string' }, name: { type: 'string' } } });
  expect(schema['description']).toContain('oneOf: [{"required":["id"]}');
  expect(faults(schema)).toEqual([]);
});

test('a tool that no rewriting saves is left out with the reason', () => {
  let deep: Json = { type: 'string' };
  for (let level = 0; level < 200; level++) deep = { type: 'object', properties: { a: deep } };
  expect(reasonOf(deep)).toBe('its definition is nested deeper than 64');
  expect(reasonOf({ type: 'object', properties: { 'a b': { type: 'string' } } })).toContain('a name that no API takes');
  expect(reasonOf({ type: 'object', properties: { a: { type: 'text' } } })).toContain('the type "text"');
  // Each level doubles what the references of the level before write out.
  const $defs = Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => [
      `d${n}`,
      { type: 'object', properties: { a: { $ref: `#/$defs/d${n + 1}` }, b: { $ref: `#/$defs/d${n + 1}` } } },
    ]),
  );
  const bomb = {
    type: 'object',
    $defs: { ...$defs, d30: { type: 'string' } },
    properties: { a: { $ref: '#/$defs/d0' } },
  };
  expect(reasonOf(bomb)).toContain('more than 5000 parts');
  expect(reasonOf({ type: 'object' })).toBeNull();
});

test('names of tools have the form that every API takes', () => {
  const cases: [string, string | null][] = [
    ['read_file-2', 'read_file-2'],
    ['fs.read/all', 'fs_read_all'],
    ['2fa', '_2fa'],
    ['-x', '_-x'],
    ['ü😀', '__'],
    ['a'.repeat(64), 'a'.repeat(64)],
    ['a'.repeat(65), null],
  ];
  for (const [name, expected] of cases) expect([name, nameForModels(name)]).toEqual([name, expected]);
});

test('whatever the schema of a server is, the offered one is in every subset', () => {
  const words = ['type', 'properties', 'items', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', '$ref', 'required', 'not'];
  const more = ['format', 'prefixItems', 'patternProperties', 'exclusiveMinimum', 'minimum', 'if', 'default', 'title'];
  let state = 7;
  const below = (count: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
  const one = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const value = (depth: number): unknown => {
    if (depth === 0) return one([true, false, null, 0, 1.5, '', 'a', 'string', 'array', '#', '#/$defs/a', [], {}]);
    if (below(4) === 0) return Array.from({ length: below(3) }, () => value(depth - 1));
    if (below(5) === 0) return one(['string', 'number', 'integer', 'object', 'array', ['string', 'null']]);
    return Object.fromEntries(
      Array.from({ length: below(4) }, () => [one([...words, ...more, 'a', 'b c']), value(depth - 1)]),
    );
  };
  let offered = 0;
  for (let times = 0; times < 3000; times++) {
    const inputSchema = { ...(value(4) as Json), $defs: { a: value(3) }, type: 'object' };
    const read = readTool({ name: 'a', inputSchema }, false);
    if ('reason' in read) continue;
    offered += 1;
    expect([inputSchema, faults(read.definition['inputSchema'])]).toEqual([inputSchema, []]);
  }
  expect(offered).toBeGreaterThan(500);
});
