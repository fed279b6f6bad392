/** Describes routes as OpenAPI 3.1, from the objects that serve them. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { bugStatus, statusOf } from './envelope.ts';
import { publicPaths } from '../guard/auth.ts';
import type { ContentBody, RouteShape } from './route.ts';

export interface ApiInfo {
  readonly title: string;
  readonly version: string;
  readonly description: string;
}

export type Json = Record<string, unknown>;

const envelopeFields = {
  success: { type: 'boolean', description: 'Whether the call succeeded.' },
  message: { type: 'string', description: 'One-line summary.' },
  hint: { type: ['string', 'null'], description: 'What to do next.' },
};
const required = ['success', 'message', 'data', 'hint'];

const sharedSchemas = {
  Failure: {
    type: 'object',
    required,
    properties: { ...envelopeFields, data: { type: ['object', 'null'], description: 'Facts about the failure.' } },
  },
  ValidationFailure: {
    type: 'object',
    required: [...required, 'errors'],
    properties: {
      ...envelopeFields,
      data: { type: ['object', 'null'] },
      errors: {
        type: 'array',
        items: {
          type: 'object',
          required: ['location', 'message', 'type'],
          properties: {
            location: { type: 'string', description: 'Starts with body, query or path.' },
            message: { type: 'string' },
            type: { type: 'string' },
          },
        },
      },
    },
  },
};

/** Builds the document for some routes; `schemas` collects the named schemas. */
export function describeApi(info: ApiInfo, routes: readonly RouteShape[]): Json {
  const schemas: Json = { ...sharedSchemas };
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: describeRoute(route, schemas) };
  }
  return {
    openapi: '3.1.0',
    info,
    paths,
    components: {
      schemas,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        header: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        query: {
          type: 'apiKey',
          in: 'query',
          name: 'api_key',
          description: 'Deprecated; for URLs that cannot carry headers.',
        },
      },
    },
    security: [{ bearer: [] }, { header: [] }, { query: [] }],
  };
}

function describeRoute(route: RouteShape, schemas: Json): Json {
  const parameters = [...describeParameters('path', route.params), ...describeParameters('query', route.query)];
  return {
    operationId: route.operation,
    summary: route.summary,
    tags: [route.operation.split('.')[0]],
    ...(publicPaths.has(route.path) ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body ? { requestBody: describeBody(route.body, route.isNullAbsent, schemas) } : {}),
    ...(route.content ? { requestBody: describeContent(route.content, schemas) } : {}),
    responses: describeResponses(route, schemas),
  };
}

function describeBody(body: z.ZodType, isNullAbsent: boolean, schemas: Json): Json {
  // An empty body counts as an empty object.
  const required = !body.safeParse({}).success;
  // In each schema, `null` would hide the fields where it has a meaning.
  const note = isNullAbsent && { description: 'Null for a field that is not required means that it is absent.' };
  return { ...note, required, content: { 'application/json': { schema: schemaOf(body, 'input', schemas) } } };
}

function describeContent(bodies: ContentBody, schemas: Json): Json {
  const described = Object.entries(bodies).map(([type, body]) => [type, { schema: schemaOf(body, 'input', schemas) }]);
  return { required: true, content: Object.fromEntries(described) as Json };
}

function describeParameters(place: 'path' | 'query', schema: z.ZodObject | undefined): Json[] {
  if (!schema) return [];
  const object = z.toJSONSchema(schema, { io: 'input' }) as { properties?: Json; required?: string[] };
  return Object.entries(object.properties ?? {}).map(([name, value]) => {
    const { description, ...rest } = value as Json;
    const isRequired = place === 'path' || (object.required ?? []).includes(name);
    return { name, in: place, required: isRequired, ...(description ? { description } : {}), schema: rest };
  });
}

function describeResponses(route: RouteShape, schemas: Json): Json {
  const failures: Record<string, string[]> = {};
  const hasInputs = route.params ?? route.query ?? route.body ?? route.content;
  const isPublic = publicPaths.has(route.path);
  const codes = new Set([
    ...route.errors,
    // Every request has its Host and Origin checked first.
    ...(['malformed_request', 'forbidden'] as const),
    ...(isPublic ? [] : (['unauthorized'] as const)),
    ...(route.socket ? (['upgrade_required'] as const) : []),
    ...(route.body || route.content ? (['unsupported_coding'] as const) : []),
    ...(route.body ? (['body_too_large', 'capacity_reached'] as const) : []),
  ]);
  for (const code of codes) (failures[statusOf[code]] ??= []).push(code);
  const responses: Json = route.socket
    ? { 101: { description: 'The connection becomes a WebSocket' } }
    : { 200: describeSuccess(route, schemas) };
  for (const [status, names] of Object.entries(failures)) {
    responses[status] = failureResponse(names.join(', '), 'Failure');
  }
  // A route may answer in its own form where others answer a failure.
  for (const [status, description] of Object.entries(route.raw?.also ?? {})) responses[status] = { description };
  responses[bugStatus] = failureResponse('a bug in the daemon; data.request_id names it in the log', 'Failure');
  if (hasInputs) responses[statusOf.invalid_input] = failureResponse('invalid_input', 'ValidationFailure');
  return responses;
}

function failureResponse(description: string, schema: string): Json {
  return { description, content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } } };
}

function describeSuccess(route: RouteShape, schemas: Json): Json {
  const content: Json = {};
  if (route.data) content['application/json'] = { schema: envelopeOf(route.data, route.top, schemas) };
  if (route.lines) content['application/x-ndjson'] = { schema: schemaOf(route.lines, 'output', schemas) };
  if (route.events) content['text/event-stream'] = { schema: schemaOf(route.events, 'output', schemas) };
  for (const type of [route.raw?.contentType ?? []].flat()) content[type] = {};
  return { description: route.raw?.description ?? route.summary, content };
}

function envelopeOf(data: z.ZodType, top: z.ZodObject | undefined, schemas: Json): Json {
  const beside = (top ? schemaOf(top, 'output', schemas) : {}) as { properties?: Json; required?: readonly string[] };
  return {
    type: 'object',
    required: [...required, ...(beside.required ?? [])],
    properties: { ...beside.properties, ...envelopeFields, data: schemaOf(data, 'output', schemas) },
  };
}

/** The JSON Schema of one schema; schemas with an id move into the document's components. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', schemas: Json): Json {
  const described = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json;
  const { $schema: _dialect, $defs, ...rest } = described;
  for (const [name, definition] of Object.entries(($defs as Json | undefined) ?? {}))
    nameSchema(schemas, name, moveReferences(definition));
  const moved = moveReferences(rest) as Json;
  const id = moved['id'];
  if (typeof id !== 'string') return moved;
  const { id: _id, ...named } = moved;
  nameSchema(schemas, id, named);
  return { $ref: `#/components/schemas/${id}` };
}

/** Adds a named schema. One document holds both surfaces, so a name must stand for one schema. */
function nameSchema(schemas: Json, name: string, schema: unknown): void {
  if (name in schemas && !isDeepStrictEqual(schemas[name], schema)) throw new Error(`two schemas are called ${name}`);
  schemas[name] = schema;
}

function moveReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(moveReferences);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string'
        ? inner.replace('#/$defs/', '#/components/schemas/')
        : moveReferences(inner),
    ]),
  );
}
