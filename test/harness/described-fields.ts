/** Compares two OpenAPI documents field by field, independent of how each writes its schemas. */
import { schemaDifferences, differenceOf, type Comparison, type Schema } from './schema-differences.ts';

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

export interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The operations, each in the form `POST /v1/bash/exec`. */
export function operationNames(document: ApiDocument): string[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
}

/** One line for each difference of one operation that both documents have. */
export function operationDifferences(name: string, expected: ApiDocument, found: ApiDocument): string[] {
  const [theirs, ours] = [operationOf(expected, name), operationOf(found, name)];
  const request: Comparison = { expected, found, direction: 'request' };
  const lines = [
    ...parameterDifferences(theirs.parameters ?? [], ours.parameters ?? [], request),
    ...bodyDifferences(theirs.requestBody, ours.requestBody, request),
    ...responseDifferences(theirs.responses, ours.responses, { ...request, direction: 'response' }),
  ];
  return [...new Set(lines)].map((line) => `${name} ${line}`);
}

function operationOf(document: ApiDocument, name: string): Operation {
  const [method = '', path = ''] = name.split(' ');
  const operation = document.paths[path]?.[method.toLowerCase()];
  if (!operation) throw new Error(`${name} is not described`);
  return operation;
}

function parameterDifferences(
  theirs: readonly Parameter[],
  ours: readonly Parameter[],
  comparison: Comparison,
): string[] {
  const asObject = (parameters: readonly Parameter[]): Schema => ({
    type: 'object',
    properties: Object.fromEntries(
      parameters.map((parameter) => [`${parameter.in}.${parameter.name}`, parameter.schema]),
    ),
    required: parameters.filter(({ required }) => required).map((parameter) => `${parameter.in}.${parameter.name}`),
  });
  return schemaDifferences(asObject(theirs), asObject(ours), 'parameters', comparison);
}

function bodyDifferences(
  theirs: Operation['requestBody'],
  ours: Operation['requestBody'],
  comparison: Comparison,
): string[] {
  const isRequired = (body: Operation['requestBody']): string => (body?.required ? 'required' : 'optional');
  return [
    ...differenceOf('body', isRequired(theirs), isRequired(ours)),
    ...contentDifferences(theirs?.content ?? {}, ours?.content ?? {}, 'body', comparison),
  ];
}

function responseDifferences(
  theirs: Operation['responses'],
  ours: Operation['responses'],
  comparison: Comparison,
): string[] {
  const absent = Object.keys(theirs).filter((status) => !(status in ours));
  return [
    ...absent.map((status) => `answer: no ${status}`),
    ...contentDifferences(theirs['200']?.content ?? {}, ours['200']?.content ?? {}, 'answer', comparison),
  ];
}

function contentDifferences(theirs: Content, ours: Content, place: string, comparison: Comparison): string[] {
  const types = Object.keys(theirs).filter((type) => type in ours);
  return [
    ...differenceOf(place, Object.keys(theirs).toSorted().join(', '), Object.keys(ours).toSorted().join(', ')),
    ...types.flatMap((type) =>
      schemaDifferences(theirs[type]?.schema ?? {}, ours[type]?.schema ?? {}, place, comparison),
    ),
  ];
}
