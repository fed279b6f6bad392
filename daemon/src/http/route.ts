/** One object is a route: its validator, its handler's types and its OpenAPI operation all come from it. */
import type { z } from 'zod';
import { CoreError, type ErrorCode } from '../kit/errors.ts';
import { HandedOver } from '../kit/handed-over.ts';
import { readJsonObject, type BodyLimits } from './body.ts';
import { bodyPieces } from './body-pieces.ts';
import { InvalidInput, success, validationFailure, type ValidationError } from './envelope.ts';
import { NdjsonStream, ndjsonResponse } from './ndjson.ts';
import { queryOf } from './query.ts';
import { rawResponse, RawReply } from './raw.ts';
import { isWholeUpgrade, SocketUpgrade } from './socket.ts';
import { SseStream, sseResponse } from './sse.ts';
import type { StreamEvents } from './stream-body.ts';
import { readText, validate, type InputPlace } from './validate.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Beside its own fields; the name of a stream's end is the one that stands in the log. */
export interface RequestNote {
  account?: string;
  /** Why an answer ended before it was whole. */
  broken_off?: string;
}

/** What a handler may know of the request beside its inputs. */
export interface RequestContext {
  readonly requestId: string;
  readonly headers: Headers;
  /** Fires when the client has gone. */
  readonly signal: AbortSignal;
  /** The key the request carries is right, or none is needed; also told for public routes. */
  readonly isAuthorized: boolean;
  readonly body: BodyLimits;
  /** What the log line of the request tells beside its own fields. */
  readonly note: RequestNote;
  /** Of the connection. It is lifted while the request is served. */
  readonly idleLimit: { lift(): void; isOpen(): boolean };
  /** A stream opens: its events are reported here, and its place is taken. Throws `capacity_reached`. */
  openStream(): StreamEvents;
}

type Output<S> = S extends z.ZodType ? z.output<S> : undefined;
type Data<S> = S extends z.ZodType ? z.input<S> | Answer<z.input<S>> : never;
type Lines<S> = S extends z.ZodType ? NdjsonStream<z.input<S>> : never;
type Events<S> = S extends z.ZodType ? SseStream : never;
type Taken<S> = S extends true ? SocketUpgrade : never;
type Raw<R> = R extends RawAnswer ? Response | RawReply : never;
type Content<C> = C extends ContentBody ? AsyncIterable<Uint8Array<ArrayBuffer>> : undefined;

/** Data with something to say about it. */
export class Answer<T> {
  constructor(
    readonly data: T,
    readonly details: {
      readonly message?: string;
      readonly hint?: string | null;
      readonly top?: object;
      /** The request was handled, and what it asked for did not come about: `success` is false, the status 200. */
      readonly isFailure?: boolean;
    } = {},
  ) {}
}

/** An answer outside the envelope, as OpenAPI tells it. */
export interface RawAnswer {
  readonly contentType: string | readonly string[];
  readonly description: string;
  /** Answers with another status, by that. */
  readonly also?: Readonly<Record<number, string>>;
}

/** Bodies that a route takes as they come, by media type, as OpenAPI tells them. */
export type ContentBody = Readonly<Record<string, z.ZodType>>;

export interface RouteDefinition<Deps, P, Q, B, D, L, R, E, S, C> {
  /** Unique over both surfaces: `commands.run`. */
  readonly operation: string;
  readonly method: Method;
  /** With `{name}` for a parameter. */
  readonly path: string;
  readonly summary: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** A body that is no JSON: the handler is given its pieces. */
  readonly content?: C;
  /** The payload in the envelope. */
  readonly data?: D;
  /** The lines, when the route streams NDJSON. */
  readonly lines?: L;
  /** The data of the events, when the route streams Server-Sent Events. */
  readonly events?: E;
  /** True when the route takes the connection over as a WebSocket. */
  readonly socket?: S;
  readonly raw?: R;
  /** Fields beside the envelope's own. */
  readonly top?: z.ZodObject;
  /** What it may raise beyond 401 and 422. */
  readonly errors: readonly ErrorCode[];
  handle(
    deps: Deps,
    input: {
      params: Output<P>;
      query: Output<Q>;
      body: Output<B>;
      content: Content<C>;
      context: RequestContext;
    },
  ): Handled<D, L, R, E, S> | Promise<Handled<D, L, R, E, S>>;
}

type Handled<D, L, R, E, S> = Data<D> | Lines<L> | Raw<R> | Events<E> | Taken<S>;

/** A route without its types: what OpenAPI describes. */
export interface RouteShape {
  readonly operation: string;
  readonly method: Method;
  readonly path: string;
  readonly summary: string;
  readonly params: z.ZodObject | undefined;
  readonly query: z.ZodObject | undefined;
  readonly body: z.ZodType | undefined;
  readonly content: ContentBody | undefined;
  readonly data: z.ZodType | undefined;
  readonly lines: z.ZodType | undefined;
  readonly events: z.ZodType | undefined;
  readonly socket: true | undefined;
  readonly raw: RawAnswer | undefined;
  readonly top: z.ZodObject | undefined;
  readonly errors: readonly ErrorCode[];
}

/** A route that can be mounted, once it is told what to work on. */
export interface Route<Deps> extends RouteShape {
  respond(
    deps: Deps,
    request: Request,
    params: Readonly<Record<string, string>>,
    context: RequestContext,
  ): Promise<Response | SocketUpgrade>;
}

/** A route together with what it works on. */
export interface BoundRoute {
  readonly method: Method;
  readonly path: string;
  respond(
    request: Request,
    params: Readonly<Record<string, string>>,
    context: RequestContext,
  ): Promise<Response | SocketUpgrade>;
}

/** The `route` function of a surface whose handlers work on `Deps`. */
export function routesFor<Deps>() {
  return function route<
    P extends z.ZodObject | undefined = undefined,
    Q extends z.ZodObject | undefined = undefined,
    B extends z.ZodType | undefined = undefined,
    D extends z.ZodType | undefined = undefined,
    L extends z.ZodType | undefined = undefined,
    R extends RawAnswer | undefined = undefined,
    E extends z.ZodType | undefined = undefined,
    S extends true | undefined = undefined,
    C extends ContentBody | undefined = undefined,
  >(definition: RouteDefinition<Deps, P, Q, B, D, L, R, E, S, C>): Route<Deps> {
    return {
      operation: definition.operation,
      method: definition.method,
      path: definition.path,
      summary: definition.summary,
      errors: definition.errors,
      top: definition.top,
      params: definition.params,
      query: definition.query,
      body: definition.body,
      content: definition.content,
      data: definition.data,
      lines: definition.lines,
      events: definition.events,
      socket: definition.socket,
      raw: definition.raw,
      async respond(deps, request, params, context) {
        // Before anything is begun for a socket that there will never be.
        if (definition.socket && !isWholeUpgrade(request)) throw noUpgrade(definition.path);
        const inputs = await readInputs(definition, request, params, context.body);
        if ('errors' in inputs) return validationFailure(inputs.errors);
        const { params: pathValues, query, body } = inputs.value;
        try {
          const result = await definition.handle(deps, {
            params: pathValues as Output<P>,
            query: query as Output<Q>,
            body: body as Output<B>,
            content: (definition.content && bodyPieces(request, context.body)) as Content<C>,
            context,
          });
          return await respondWith(result, request, context);
        } catch (error) {
          if (error instanceof InvalidInput) return validationFailure(error.errors);
          const { raw } = inputs;
          throw error instanceof HandedOver && raw ? error.withBody(raw) : error;
        }
      },
    };
  };
}

export function bindRoutes<Deps>(routes: readonly Route<Deps>[], deps: Deps): BoundRoute[] {
  return routes.map((route) => ({
    method: route.method,
    path: route.path,
    respond: (request, params, context) => route.respond(deps, request, params, context),
  }));
}

function noUpgrade(path: string): CoreError {
  return new CoreError('upgrade_required', `${path} is a WebSocket`, {
    hint: 'Connect to it with a WebSocket client: ws://… or wss://….',
  });
}

interface InputSchemas {
  readonly params?: z.ZodObject | undefined;
  readonly query?: z.ZodObject | undefined;
  readonly body?: z.ZodType | undefined;
}

type Inputs = { readonly params: unknown; readonly query: unknown; readonly body: unknown };

/** Every place is looked at, so that a caller learns of all that is wrong at once. */
async function readInputs(
  schemas: InputSchemas,
  request: Request,
  params: Readonly<Record<string, string>>,
  limits: BodyLimits,
): Promise<{ value: Inputs; raw: Record<string, unknown> | null } | { errors: readonly ValidationError[] }> {
  const errors: ValidationError[] = [];
  const check = (schema: z.ZodType | undefined, input: unknown, place: InputPlace): unknown => {
    if (!schema) return undefined;
    const checked = validate(schema, input, place);
    if ('value' in checked) return checked.value;
    errors.push(...checked.errors);
    return undefined;
  };
  const raw = schemas.body ? await readJsonObject(request, limits) : null;
  const value = {
    params: check(schemas.params, schemas.params && readText(schemas.params, params), 'path'),
    query: check(schemas.query, schemas.query && readText(schemas.query, queryOf(request.url)), 'query'),
    body: check(schemas.body, raw, 'body'),
  };
  return errors.length > 0 ? { errors } : { value, raw };
}

async function respondWith(
  result: unknown,
  request: Request,
  context: RequestContext,
): Promise<Response | SocketUpgrade> {
  if (result instanceof Response || result instanceof SocketUpgrade) return result;
  if (result instanceof RawReply) return await rawResponse(result, request, context);
  // Nobody reads the body of a HEAD: its stream would never end, and its place would be taken for ever.
  const events = () => (request.method === 'HEAD' ? null : context.openStream());
  if (result instanceof NdjsonStream) return ndjsonResponse(result, events());
  if (result instanceof SseStream) return sseResponse(result, events());
  const answer = result instanceof Answer ? (result as Answer<unknown>) : new Answer(result);
  const { message = 'Operation successful', hint = null, top, isFailure = false } = answer.details;
  return success(answer.data, { message, hint, isFailure }, top);
}
