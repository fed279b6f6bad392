/** Describes routes as OpenAPI 3.1, from the objects that serve them. */
import { z } from 'zod';
import { publicPaths } from '../guard/auth.ts';
import { isOfV1, usualMessage } from '../route/envelope.ts';
import type { EventSchemas, RouteShape, SocketFrames } from '../route/route.ts';
import { anyFailure, describeFailures, envelopeFields, required, type FailureForm } from './failures.ts';
import { pascal, Schemas, type Json } from './schemas.ts';

export type { Json } from './schemas.ts';

export interface ApiInfo {
  readonly title: string;
  readonly version: string;
  readonly description: string;
}

const tags: Readonly<Record<string, string>> = {
  bash: 'Commands in sessions, for clients of 1.x.',
  browser: 'The pages of the browser in the sandbox.',
  code: 'Python and JavaScript, in sessions that keep their state or without one.',
  commands: 'Commands as resources: start, follow by offset, write to, end.',
  desktop: 'The display: pictures, pointer, keyboard, windows, accessibility.',
  files: 'Files and whole trees.',
  jupyter: 'Code in kernels, for clients of 1.x.',
  mcp: 'The same for models, over the Model Context Protocol.',
  nodejs: 'Code in Node.js, for clients of 1.x.',
  operations: 'The sandbox itself, its health and its descriptions.',
  shell: 'Terminals, for clients of 1.x.',
  terminals: 'Terminals that outlive their viewers.',
  watch: 'Changes of files, as they happen.',
};

/** What a real call has sent and been answered. */
export interface Example {
  /** Those of the path and those of the query. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  /** In an envelope, without the fields that say no more than that the call succeeded. */
  readonly answer?: unknown;
}

/** Where a protocol of others is served, and how it takes the key and refuses. */
export interface ForeignForm extends FailureForm {
  readonly server: string;
  readonly keyHeaders: readonly string[];
  readonly publicPaths: ReadonlySet<string>;
}

/** Builds the document for some routes; `examples` are by operation. */
export function describeApi(
  info: ApiInfo,
  routes: readonly RouteShape[],
  examples: Readonly<Record<string, Example>> = {},
  foreign?: ForeignForm,
): Json {
  const [ofV1, schemas] = [new Schemas('V1'), new Schemas()];
  if (!foreign) anyFailure('', schemas);
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const named = isOfV1(route.path) ? ofV1 : schemas;
    const described = describeRoute(route, named, examples[route.operation] ?? {}, foreign);
    const path = route.path.replace('...}', '}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: described };
  }
  const used = new Set(routes.map(tagOf));
  const keys = foreign ? headersOf(foreign.keyHeaders) : ownKeys;
  return {
    openapi: '3.1.0',
    info: { ...info, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: foreign?.server ?? 'http://127.0.0.1:18091', description: 'A daemon on this machine.' }],
    tags: Object.entries(tags).flatMap(([name, description]) => (used.has(name) ? [{ name, description }] : [])),
    paths,
    components: {
      schemas: { ...ofV1.all, ...schemas.all },
      securitySchemes: keys,
    },
    security: Object.keys(keys).map((name) => ({ [name]: [] })),
  };
}

const ownKeys: Json = {
  bearer: { type: 'http', scheme: 'bearer' },
  header: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  query: {
    type: 'apiKey',
    in: 'query',
    name: 'api_key',
    description: 'Deprecated; for URLs that cannot carry headers.',
  },
};

function headersOf(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { type: 'apiKey', in: 'header', name }]));
}

const jsonType = 'application/json';
const [partialContent, badRequest] = [206, 400];

function tagOf({ operation }: RouteShape): string {
  return operation.split('.')[0] ?? '';
}

/** `commands.run` is `CommandRun`, so that its types are `CommandRunRequest` and `CommandRunResponse`. */
function typeNameOf({ operation }: RouteShape): string {
  const [plane = '', ...rest] = operation.split('.');
  return pascal([plane.replace(/s$/, ''), ...rest].join('.'));
}

function describeRoute(route: RouteShape, schemas: Schemas, example: Example, foreign?: ForeignForm): Json {
  const parameters = [
    ...describeParameters('path', route.params, schemas),
    ...describeParameters('query', route.query, schemas),
  ].map((one) => withExample(one, example.parameters?.[String(one['name'])]));
  const requestBody = describeBody(route, schemas, example);
  return {
    operationId: route.operation,
    summary: route.summary,
    tags: [tagOf(route)],
    ...((foreign?.publicPaths ?? publicPaths).has(route.path) ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody && { requestBody }),
    responses: describeResponses(route, schemas, example, foreign),
  };
}

function withExample(described: Json, example: unknown): Json {
  return example === undefined ? described : { ...described, example };
}

function describeBody(route: RouteShape, schemas: Schemas, example: Example): Json | null {
  const { body, content, isNullAbsent } = route;
  const name = `${typeNameOf(route)}Request`;
  if (content) {
    const media = Object.entries(content).map(([type, one]) => [type, { schema: schemas.inline(one, 'open', name) }]);
    return { required: true, content: Object.fromEntries(media) as Json };
  }
  if (!body) return null;
  // An empty body counts as an empty object.
  const isRequired = !body.safeParse({}).success;
  // In each schema, `null` would hide the fields where it has a meaning.
  const note = isNullAbsent && { description: 'Null for a field that is not required means that it is absent.' };
  const schema = schemas.named(body, 'input', name);
  return { ...note, required: isRequired, content: { 'application/json': withExample({ schema }, example.body) } };
}

function describeParameters(place: 'path' | 'query', schema: z.ZodObject | undefined, schemas: Schemas): Json[] {
  if (!schema) return [];
  const object = schemas.inline(schema, 'input', '') as { properties?: Json; required?: string[] };
  return Object.entries(object.properties ?? {}).map(([name, value]) => {
    const { description, ...rest } = value as Json;
    const isRequired = place === 'path' || (object.required ?? []).includes(name);
    return { name, in: place, required: isRequired, ...(description ? { description } : {}), schema: rest };
  });
}

function describeResponses(route: RouteShape, schemas: Schemas, example: Example, foreign?: FailureForm): Json {
  const also = Object.entries(route.raw?.also ?? {}).map(([status, description]) => [
    status,
    { description, ...contentOf(Number(status), route) },
  ]);
  return {
    ...(route.socket
      ? { 101: describeFrames(route.socket, schemas), default: anyFailure(route.path, schemas) }
      : { [route.raw?.status ?? 200]: describeSuccess(route, schemas, example) }),
    ...describeFailures(route, schemas, foreign),
    // A route may answer in its own form where others answer a failure.
    ...(Object.fromEntries(also) as Json),
  };
}

/** OpenAPI has no word for the frames of a WebSocket; those of both sides stand where an answer would. */
function describeFrames({ sends, receives }: SocketFrames, schemas: Schemas): Json {
  const description = 'The connection becomes a WebSocket';
  if (!sends || !receives) return { description };
  const sides = { sends: schemas.named(sends, 'output', ''), receives: schemas.named(receives, 'open', '') };
  const schema = { description: 'A text frame, sent or received.', anyOf: Object.values(sides) };
  return { description, content: { 'application/json': { schema } }, 'x-websocket': sides };
}

/** A part of an answer has its type, and a failure of its own form is JSON. */
function contentOf(status: number, { raw }: RouteShape): Json {
  const types = status === partialContent ? [raw?.contentType ?? []].flat() : status >= badRequest ? [jsonType] : [];
  const content = types.map((type) => [type, { schema: rawSchema(type) }]);
  return content.length === 0 ? {} : { content: Object.fromEntries(content) as Json };
}

function describeSuccess(route: RouteShape, schemas: Schemas, { answer }: Example): Json {
  const name = typeNameOf(route);
  const content: Json = {};
  if (route.data) content['application/json'] = { schema: schemas.add(`${name}Response`, envelopeOf(route, schemas)) };
  if (route.lines) content['application/x-ndjson'] = { schema: schemas.named(route.lines, 'output', `${name}Line`) };
  if (route.events) content['text/event-stream'] = { schema: eventSchema(route.events, `${name}Event`, schemas) };
  for (const type of [route.raw?.contentType ?? []].flat()) content[type] = { schema: rawSchema(type) };
  // Of several forms, the first is that of the example.
  const media = Object.entries(content).map(([type, one], at) => [
    type,
    at === 0 ? withExample(one as Json, route.data ? enveloped(answer) : answer) : one,
  ]);
  return { description: route.raw?.description ?? route.summary, content: Object.fromEntries(media) as Json };
}

function enveloped(answer: unknown): unknown {
  if (answer === undefined) return undefined;
  const { message = usualMessage, data, hint = null, ...top } = answer as Json;
  return { ...top, success: true, message, data, hint };
}

/** An event of the stream; where each event has data of its own, one alternative each. */
function eventSchema(events: EventSchemas, name: string, schemas: Schemas): Json {
  if (events instanceof z.ZodType) {
    const contentSchema = schemas.inline(events, 'output', `${name}Data`);
    if (contentSchema['type'] === 'string') return contentSchema; // As 1.x describes it.
    return schemas.add(name, eventOf({ type: 'string' }, contentSchema));
  }
  const references = Object.entries(events).map(([event, data]): [string, Json] => {
    const contentSchema = schemas.named(data, 'output', `${name}${pascal(event)}Data`);
    return [event, schemas.add(`${name}${pascal(event)}`, eventOf({ type: 'string', const: event }, contentSchema))];
  });
  const mapping = Object.fromEntries(references.map(([event, { $ref }]) => [event, $ref]));
  const oneOf = references.map(([, reference]) => reference);
  return schemas.add(name, { oneOf, discriminator: { propertyName: 'event', mapping } });
}

/** The data of an event is JSON in a text. */
function eventOf(event: Json, contentSchema: Json): Json {
  const data = { type: 'string', contentMediaType: 'application/json', contentSchema };
  return { type: 'object', required: ['event', 'data'], properties: { event, id: { type: 'string' }, data } };
}

function rawSchema(type: string): Json {
  if (type === 'application/json') return { type: 'object', additionalProperties: true };
  return type.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' };
}

function envelopeOf(route: RouteShape, schemas: Schemas): Json {
  const name = typeNameOf(route);
  const top = route.top ? schemas.resolved(schemas.inline(route.top, 'output', name)) : {};
  const beside = top as { readonly properties?: Json; readonly required?: readonly string[] };
  const data = route.data ? schemas.named(route.data, 'output', `${name}Data`) : {};
  return {
    type: 'object',
    required: [...required, ...(beside.required ?? [])],
    properties: { ...beside.properties, ...envelopeFields, data },
  };
}
