/** Every operation of v2 has an example of a request and an answer, which a real call has produced. */
import { expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isShort } from '../harness/counts.ts';
import { recordExamples, type Description, type Example, type Examples } from '../harness/examples.ts';
import { needPackages } from '../harness/interpreters.ts';
import { repositoryRoot } from '../harness/sandbox.ts';

const file = join(repositoryRoot, 'daemon/src/http/description/examples.json');
const read = (path: string): unknown => JSON.parse(readFileSync(join(repositoryRoot, path), 'utf8'));
const spec = read('spec/v2.json') as Description & { readonly components: object };
const stored = read('daemon/src/http/description/examples.json') as Readonly<Record<string, Partial<Example>>>;

interface Media {
  readonly schema?: object;
  readonly example?: unknown;
}

interface Described {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly required: boolean; readonly schema: object }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>;
}

const operations = Object.values(spec.paths).flatMap((methods) => Object.values(methods)) as unknown as Described[];

/** The stored examples, with the answers as the description shows them. */
const kept: Examples = Object.fromEntries(
  Object.entries(stored).map(([name, { parameters = {}, ...example }]) => {
    const content = operations.find(({ operationId }) => operationId === name)?.responses['200']?.content ?? {};
    const answer = example.answer !== undefined && { answer: Object.values(content)[0]?.example };
    return [name, { parameters, ...example, ...answer }];
  }),
);

const usual = new Map<string, unknown>(Object.entries({ success: true, message: 'Operation successful', hint: null }));

/** As it is stored: the description adds the usual fields of an envelope. */
function storedForm({ parameters, body, answer }: Example): object {
  const fields = Object.entries(Object(answer) as object);
  const others = fields.filter(([name, value]) => !usual.has(name) || usual.get(name) !== value);
  const isEnvelope = fields.some(([name]) => name === 'success');
  return {
    ...(Object.keys(parameters).length > 0 && { parameters }),
    ...(body !== undefined && { body }),
    ...(answer !== undefined && { answer: isEnvelope ? Object.fromEntries(others) : answer }),
  };
}

type Validate = ((value: unknown) => boolean) & { readonly errors?: unknown };

/** A checker of values against the schemas of the description. */
function checker(): (schema: object, value: unknown) => unknown {
  const load = createRequire(join(needPackages('generators'), 'package.json'));
  const Ajv = (load('ajv/dist/2020.js') as { default: new (options: object) => { compile(schema: object): Validate } })
    .default;
  const ajv = new Ajv({ strict: false, validateFormats: false });
  return (schema, value) => {
    const validate = ajv.compile({ ...schema, components: spec.components });
    return validate(value) ? null : validate.errors;
  };
}

function problems(examples: Examples, check: ReturnType<typeof checker>): unknown[] {
  return operations.flatMap(({ operationId, parameters = [], requestBody, responses }) => {
    const example = examples[operationId];
    if (!example) return [[operationId, 'has no example']];
    const body = requestBody?.content['application/json']?.schema;
    const media = Object.values(responses['200']?.content ?? {})[0]?.schema;
    const missing = parameters.filter(({ name, required }) => required && !(name in example.parameters));
    const found = [
      ...missing.map(({ name }) => `${name} is missing`),
      ...parameters.map(({ name, schema }) => name in example.parameters && check(schema, example.parameters[name])),
      body && check(body, example.body),
      media && example.answer !== undefined && check(media, example.answer),
    ];
    return found.filter(Boolean).map((problem) => [operationId, problem]);
  });
}

/** The names of the fields, at any depth; of lists, those of the first entry. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (typeof value !== 'object' || value === null) return null;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]));
}

test('VER-EXAMPLES each operation has an example that fits its description', () => {
  expect(problems(kept, checker())).toEqual([]);
  expect(Object.fromEntries(Object.entries(kept).map(([name, one]) => [name, storedForm(one)]))).toEqual(stored);
});

/** What of an answer depends on the machine: which programs, windows and packages there are. */
const dependsOnTheMachine: ReadonlySet<string> = new Set([
  ...['operations.sandbox', 'code.info', 'desktop.info', 'desktop.windows', 'desktop.accessibility', 'desktop.nodes'],
  ...['browser.requests', 'browser.tabs', 'operations.metrics', 'browser.cookies'],
]);

/** `BOXKEEP_EXAMPLES=write` keeps what this run has seen. */
test.skipIf(isShort)(
  'VER-EXAMPLES the same calls get answers of the same form from a daemon',
  async () => {
    const recorded = await recordExamples(spec);
    if (process.env['BOXKEEP_EXAMPLES'] === 'write') {
      // An example of the same form stays: ids and times of another run say nothing new.
      const formOf = (example?: Example) => JSON.stringify([example?.body, shapeOf(example)]);
      const written = Object.entries(recorded).map(([name, example]) => {
        return [name, storedForm(formOf(example) === formOf(kept[name]) ? kept[name]! : example)];
      });
      writeFileSync(file, `${JSON.stringify(Object.fromEntries(written), null, 2)}\n`);
    }
    expect(problems(recorded, checker())).toEqual([]);
    const comparable = (examples: Examples): [string, unknown][] =>
      Object.entries(examples)
        .filter(([operation]) => !dependsOnTheMachine.has(operation))
        .map(([operation, { answer }]: [string, Example]) => [operation, shapeOf(answer)]);
    if (process.env['BOXKEEP_EXAMPLES'] !== 'write') expect(comparable(recorded)).toEqual(comparable(kept));
  },
  600_000,
);
