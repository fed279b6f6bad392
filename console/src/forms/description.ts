/** Reads the routes of the daemon from its own description. */
import type { Operations, Result, Sandbox } from '../../../clients/typescript/src/index.ts';

/** The part of JSON Schema that forms show. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly description?: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface ApiRoute {
  readonly operation: keyof Operations;
  readonly method: string;
  readonly path: string;
  readonly plane: string;
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  /** Null without a JSON body. */
  readonly body: { readonly schema: Schema; readonly example: unknown } | null;
  /** A file or an archive, which no form holds. */
  readonly takesBytes: boolean;
  readonly isSocket: boolean;
}

export interface Description {
  readonly routes: readonly ApiRoute[];
  resolve(schema: Schema): Schema;
}

interface Operation {
  readonly operationId: keyof Operations;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Schema; example?: unknown }>> };
  readonly responses: object;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export async function readDescription(box: Sandbox): Promise<Result<Description>> {
  const read = await box.call('operations.openapi_v2', {});
  if (!read.ok) return read;
  const { paths, components } = read.body as unknown as Document;
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => routeOf(method.toUpperCase(), path, operation)),
  );
  const resolve = (schema: Schema) => components.schemas[schema.$ref?.split('/').pop() ?? ''] ?? schema;
  return { ok: true, body: { routes, resolve } };
}

function routeOf(method: string, path: string, operation: Operation): ApiRoute {
  const { operationId, summary = '', tags = [], parameters = [], requestBody, responses } = operation;
  const json = requestBody?.content['application/json'];
  return {
    ...{ operation: operationId, method, path, plane: tags[0] ?? '', summary },
    parameters: parameters.filter((parameter) => parameter.in !== 'header'),
    body: json ? { schema: json.schema, example: json.example } : null,
    takesBytes: requestBody !== undefined && json === undefined,
    isSocket: '101' in responses,
  };
}
