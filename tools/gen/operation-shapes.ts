/** Reads from a description what each operation takes and answers, in a form that any language can print. */
import { nameOf, type ApiDocument, type Schema } from './reference.ts';

/** A type: what a schema allows, as far as the languages of the clients can say it. */
export type Shape =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'literals'; readonly values: readonly unknown[] }
  | { readonly kind: 'union' | 'intersection'; readonly parts: readonly Shape[] }
  | { readonly kind: 'object'; readonly fields: readonly Field[] }
  | { readonly kind: 'map' | 'list'; readonly values: Shape }
  | { readonly kind: 'scalars'; readonly names: readonly string[] };

export interface Field {
  readonly name: string;
  readonly shape: Shape;
  readonly isRequired: boolean;
}

export interface OperationShape {
  /** Such as `files.read`. */
  readonly name: string;
  readonly summary: string;
  readonly method: string;
  readonly path: string;
  readonly inPath: readonly Field[];
  readonly inQuery: readonly Field[];
  readonly body: Shape | null;
  /** Whether it has a body at all, JSON or not. */
  readonly takesContent: boolean;
  /** Null where the answer is not JSON. */
  readonly answer: Shape | null;
  /** What a WebSocket sends and receives; none where the operation opens none. */
  readonly frames: readonly Shape[];
}

export interface DocumentShape {
  /** Of the daemon. */
  readonly version: string;
  readonly operations: readonly OperationShape[];
  /** Each named type, without those that `Failure` and the operations do not refer to. */
  readonly types: ReadonlyMap<string, Shape>;
}

const failure: Shape = { kind: 'name', name: 'Failure' };

export function shapeOfDocument(document: object): DocumentShape {
  const { info, paths, components } = document as ApiDocument;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): OperationShape => {
      const { operationId: name, summary, parameters = [], requestBody, responses } = operation;
      const fieldsIn = (place: string) =>
        parameters
          .filter((parameter) => parameter.in === place)
          .map(({ name, schema, required }) => ({ name, shape: shapeOf(schema), isRequired: required }));
      const [body, answer] = [requestBody, responses['200']].map((part) => {
        const schema = part?.content?.['application/json']?.schema;
        return schema ? shapeOf(schema) : null;
      });
      return {
        ...{ name, summary, method: method.toUpperCase(), path, body: body ?? null, answer: answer ?? null },
        ...{ inPath: fieldsIn('path'), inQuery: fieldsIn('query'), takesContent: requestBody !== undefined },
        frames: Object.values(responses['101']?.['x-websocket'] ?? {}).map(shapeOf),
      };
    }),
  );
  const roots = operations.flatMap(({ inPath, inQuery, body, answer, frames }) => [
    ...[...inPath, ...inQuery].map(({ shape }) => shape),
    ...frames,
    ...[body, answer].filter((shape) => shape !== null),
  ]);
  return { version: info.version, operations, types: namedTypes([failure, ...roots], components.schemas) };
}

/** The named types that these refer to, at any depth, by name. */
function namedTypes(roots: readonly Shape[], schemas: ApiDocument['components']['schemas']): Map<string, Shape> {
  const types = new Map<string, Shape>();
  const addTypes = (shape: Shape): void => {
    for (const name of namesIn(shape)) {
      if (types.has(name)) continue;
      const found = shapeOf(schemas[name] ?? {});
      types.set(name, found);
      addTypes(found);
    }
  };
  roots.forEach(addTypes);
  return new Map([...types].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The named types that a type refers to itself. */
export function namesIn(shape: Shape): string[] {
  if (shape.kind === 'name') return [shape.name];
  if ('parts' in shape) return shape.parts.flatMap(namesIn);
  if (shape.kind === 'object') return shape.fields.flatMap((field) => namesIn(field.shape));
  return 'values' in shape && shape.kind !== 'literals' ? namesIn(shape.values) : [];
}

function shapeOf(schema: Schema): Shape {
  const { additionalProperties, allOf, anyOf, items, oneOf, properties, required = [] } = schema;
  if (schema.$ref !== undefined) return { kind: 'name', name: nameOf(schema.$ref) };
  if (schema.const !== undefined) return { kind: 'literals', values: [schema.const] };
  if (schema.enum) return { kind: 'literals', values: schema.enum };
  if (allOf) return { kind: 'intersection', parts: allOf.map(shapeOf) };
  const alternatives = anyOf ?? oneOf;
  if (alternatives) return { kind: 'union', parts: alternatives.map(shapeOf) };
  if (properties) {
    const fields = Object.entries(properties).map(([name, field]) => ({
      ...{ name, shape: shapeOf(field), isRequired: required.includes(name) },
    }));
    return { kind: 'object', fields };
  }
  if (typeof additionalProperties === 'object') return { kind: 'map', values: shapeOf(additionalProperties) };
  if (items) return { kind: 'list', values: shapeOf(items) };
  return { kind: 'scalars', names: [schema.type ?? 'unknown'].flat() };
}
