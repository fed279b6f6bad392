/** The description of v1 against the one that the 1.x clients were generated from, field by field. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { operationDifferences, operationNames, type ApiDocument } from '../harness/described-fields.ts';
import { expect, repositoryRoot, programTest, test, type Sandbox } from '../harness/sandbox.ts';
import { clientRoutes } from '../harness/v1-clients.ts';
import { agreedDifferences } from '../harness/v1-differences.ts';
import type { Schema } from '../harness/schema-differences.ts';

/** Routes of v1 that are absent from the 1.x document; the specification names them and their bodies. */
const beside: readonly string[] = [
  'GET /v1/capabilities',
  'GET /v1/jupyter/sessions/{session_id}',
  'GET /v1/openapi.json',
  'GET /v1/ping',
  'GET /v1/shell/ws',
  ...['stat', 'mkdir', 'copy', 'move', 'delete'].map((name) => `POST /v1/file/${name}`),
  ...['navigate', 'click', 'fill', 'evaluate', 'upload'].map((name) => `POST /v1/browser/${name}`),
  ...['snapshot', 'cdp'].flatMap((name) => [`GET /v1/browser/${name}`, `POST /v1/browser/${name}`]),
];

const contract = JSON.parse(readFileSync(join(repositoryRoot, 'test/contract/v1/openapi.json'), 'utf8')) as ApiDocument;

async function described(sandbox: Sandbox): Promise<ApiDocument> {
  return (await (await sandbox.fetch('GET /v1/openapi.json')).json()) as ApiDocument;
}

const isVersioned = (name: string) => name.includes(' /v1/');

test('VER-2 VER-3 every operation of the 1.x clients is described, and nothing else', async ({ sandbox }) => {
  const served = operationNames(await described(sandbox)).filter(isVersioned);
  const wanted = [...operationNames(contract), ...beside];

  expect(served.toSorted()).toEqual(wanted.toSorted());
  const ofClients = clientRoutes().filter((row) => row.class.startsWith('served') && isVersioned(row.name));
  expect(ofClients.map(({ name }) => name).filter((name) => !served.includes(name))).toEqual([]);
});

test('VER-2 VER-3 the fields of every operation are those that the 1.x clients were generated from', async ({
  sandbox,
}) => {
  const ours = await described(sandbox);
  const served = operationNames(ours);
  const shared = operationNames(contract).filter((name) => served.includes(name));
  const differences = shared.flatMap((name) => operationDifferences(name, contract, ours));

  expect(differences.toSorted()).toEqual(Object.values(agreedDifferences).flat().toSorted());
});

const text: Schema = { type: 'string' };
const nothing: Schema = { type: 'null' };
const object = (properties: Record<string, Schema>, required: string[] = []): Schema => ({
  type: 'object',
  properties,
  required,
});

/** Request schemas: 1.x, ours, and the reported difference. */
const asked: readonly (readonly [Schema, Schema, readonly string[]])[] = [
  [object({ a: { anyOf: [text, nothing] } }), object({ a: { type: ['string', 'null'], default: null } }), []],
  [{ oneOf: [{ const: 'x' }, { const: 'y' }] }, { type: 'string', enum: ['y', 'x'] }, []],
  [{ $ref: '#/components/schemas/Named' }, text, []],
  [object({ a: text }), object({}), ['body.a: is missing here']],
  [object({}), object({ a: text }), ['body.a: not there, here it is']],
  [object({ a: text }, ['a']), object({ a: text }), ['body.a: required, here optional']],
  [object({ a: text }), object({ a: { type: 'integer' } }), ['body.a: string, here integer']],
  [object({ a: text }), object({ a: { anyOf: [text, nothing] } }), ['body.a: string, here null|string']],
  [object({ a: { type: 'number' } }), object({ a: { type: 'integer' } }), ['body.a: number, here integer']],
  [{ type: 'integer', enum: [1, 2] }, { type: 'number', enum: [1, 2] }, []],
  [object({ a: text }), { ...object({ a: text }), anyOf: [{ required: ['a'] }] }, []],
  [text, { type: 'string', default: 'x' }, ['body: no default, here default "x"']],
  [{ type: 'string', enum: ['x'] }, text, ['body: one of "x", here any value']],
  [{ type: 'integer', minimum: 1 } as Schema, { type: 'integer' }, ['body: minimum 1, here no minimum']],
  [{ type: 'array', items: text }, { type: 'array', items: nothing }, ['body[]: string, here null']],
  [{ type: 'array', minItems: 1 } as Schema, { type: 'array' }, ['body: minItems 1, here no minItems']],
  [
    { anyOf: [object({ a: { const: 1 } }), object({ a: { const: 2 }, b: text })] },
    { anyOf: [object({ a: { const: 2 } }), object({ a: { const: 1 } })] },
    ['body.b: is missing here'],
  ],
  [
    { type: 'object', additionalProperties: text },
    { type: 'object', additionalProperties: nothing },
    ['body.*: string, here null'],
  ],
];

/** Response schemas: ours may be narrower than expected, and every field is always present. */
const answered: readonly (readonly [Schema, Schema, readonly string[]])[] = [
  [{}, text, []],
  [{ anyOf: [text, nothing] }, text, []],
  [{ type: 'number' }, { type: 'integer' }, []],
  [{ type: 'string', enum: ['x', 'y'] }, { type: 'string', enum: ['x'] }, []],
  [object({ a: text }), object({ a: text }, ['a']), []],
  [text, { anyOf: [text, nothing] }, ['answer: string, here null|string']],
  [text, {}, ['answer: string, here any']],
  [{ type: 'string', enum: ['x'] }, { type: 'string', enum: ['x', 'y'] }, ['answer: one of "x", here one of "x", "y"']],
  [object({ a: text }), object({ a: text }), ['answer.a: required, here optional']],
  [object({ a: text }), object({}), ['answer.a: is missing here']],
  [{ anyOf: [object({}), nothing] }, object({ a: text }, ['a']), ['answer.a: not there, here it is']],
];

function documentOf(place: 'body' | 'answer', schema: Schema): ApiDocument {
  const content = { 'application/json': { schema } };
  const operation = { requestBody: { required: true, content }, responses: { 200: {} } };
  const post = place === 'body' ? operation : { responses: { 200: { content } } };
  return { paths: { '/x': { post } }, components: { schemas: { Named: text } } };
}

programTest('VER-2 each kind of difference between two descriptions is reported once', () => {
  for (const [place, cases] of Object.entries({ body: asked, answer: answered }) as [
    'body' | 'answer',
    typeof asked,
  ][]) {
    for (const [theirs, ours, lines] of cases) {
      const reported = operationDifferences('POST /x', documentOf(place, theirs), documentOf(place, ours));
      expect([theirs, ours, reported]).toEqual([theirs, ours, lines.map((line) => `POST /x ${line}`)]);
    }
  }
});

programTest('VER-2 differing parameters and statuses are reported', () => {
  const parameter = { name: 'a', in: 'query', schema: text };
  const theirs: ApiDocument = {
    paths: { '/x': { get: { parameters: [parameter], responses: { 200: {}, 409: {} } } } },
    components: { schemas: {} },
  };
  const ours: ApiDocument = {
    paths: { '/x': { get: { parameters: [{ ...parameter, required: true }], responses: { 200: {} } } } },
    components: { schemas: {} },
  };
  expect(operationNames(theirs)).toEqual(['GET /x']);
  expect(operationDifferences('GET /x', theirs, ours)).toEqual([
    'GET /x parameters.query.a: optional, here required',
    'GET /x answer: no 409',
  ]);
});
