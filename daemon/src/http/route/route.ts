/** Defines a route as one object: its validator, handler types and OpenAPI operation derive from it. */
import type { RequestContext } from './context.ts';
import { z } from 'zod';
import { Answer } from '../../kit/answer.ts';
import { CoreError, firstFailure, type ErrorCode } from '../../kit/errors.ts';
import { HandedOver, RepeatElsewhere, type HandedOverFacts } from '../../kit/handed-over.ts';
import { readJsonObject, type BodyLimits } from '../body/body.ts';
import type { Reservation } from '../../kit/memory-budget.ts';
import { once } from '../../kit/once.ts';
import { bodyPieces } from '../body/body-pieces.ts';
import { assertNotEncoded } from '../body/content-coding.ts';
import { InvalidInput, success, usualMessage, type ValidationError } from './envelope.ts';
import { jsonAnswer } from '../stream/json-answer.ts';
import { subjectOf } from './subject.ts';
import { NdjsonStream, ndjsonResponse } from '../stream/ndjson.ts';
import { queryOf } from '../body/query.ts';
import { rawResponse, RawReply } from '../stream/raw.ts';
import { assertUpgrade, SocketUpgrade } from '../stream/socket.ts';
import { SseStream, sseResponse } from '../stream/sse.ts';
import { assertConnected } from '../stream/still-connected.ts';
import { readText, validate, withoutNulls, type InputPlace } from './validate.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

type Output<S> = S extends z.ZodType ? z.output<S> : undefined;
type Data<S> = S extends z.ZodType ? z.input<S> | Answer<z.input<S>> : never;
type Lines<S> = S extends z.ZodType ? NdjsonStream<z.input<S>> : never;
type Events<S> = S extends EventSchemas ? SseStream : never;
type Taken<S> = S extends SocketFrames ? SocketUpgrade : never;
type Raw<R> = R extends RawAnswer ? Response | RawReply : never;
type Fields<B> = B extends z.ZodType ? Partial<z.input<B>> : never;
type Content<C> = C extends ContentBody ? AsyncIterable<Uint8Array<ArrayBuffer>> : undefined;

/** An answer outside the envelope, described for OpenAPI. */
export interface RawAnswer {
  readonly contentType: string | readonly string[];
  readonly description: string;
  /** Of the answer that is described; 200 where it is absent. */
  readonly status?: number;
  /** Descriptions of answers with other statuses, by status. */
  readonly also?: Readonly<Record<number, string>>;
}

/** The text frames of a WebSocket, each a JSON object: what the daemon sends and receives. Described for OpenAPI. */
export interface SocketFrames {
  readonly sends?: z.ZodType;
  readonly receives?: z.ZodType;
}

/** By the names of the events; one schema where the description of 1.x has no more. */
export type EventSchemas = z.ZodType | Readonly<Record<string, z.ZodType>>;

/** Bodies that a route streams, by media type, described for OpenAPI. */
export type ContentBody = Readonly<Record<string, z.ZodType>>;

export interface RouteDefinition<Deps, P, Q, B, D, L, R, E, S, C> {
  /** Unique across both surfaces, such as `commands.run`. */
  readonly operation: string;
  readonly method: Method;
  /** The path template, with `{name}` for a parameter, and `{name...}` for the rest of the path. */
  readonly path: string;
  /** True for a GET with an effect. A HEAD must not have one, so it is refused. */
  readonly hasEffect?: boolean;
  readonly summary: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** Fields that replace those of the body when the request is repeated at another daemon after `HandedOver`. */
  readonly fieldsToRepeat?: (facts: HandedOverFacts) => Fields<B>;
  /** A body other than JSON; the handler receives its pieces. */
  readonly content?: C;
  /** True when the handler decompresses the body itself; any other route refuses a compressed body. */
  readonly decodes?: boolean;
  /** The schema of the payload in the envelope. */
  readonly data?: D;
  /** The schema of a line, when the route streams NDJSON. */
  readonly lines?: L;
  /** The schema of the data of each event, when the route streams Server-Sent Events. */
  readonly events?: E;
  /** The route turns the connection into a WebSocket. */
  readonly socket?: S;
  readonly raw?: R;
  /** Top-level fields beside those of the envelope. */
  readonly top?: z.ZodObject;
  /** Errors that the route may raise beyond 401 and 422; none where they are absent. */
  readonly errors?: readonly ErrorCode[];
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

/** A route of any kind; a type parameter that a route lacks is undefined. */
type AnyDefinition = RouteDefinition<
  never,
  z.ZodObject | undefined,
  z.ZodObject | undefined,
  z.ZodType | undefined,
  z.ZodType | undefined,
  z.ZodType | undefined,
  RawAnswer | undefined,
  EventSchemas | undefined,
  SocketFrames | undefined,
  ContentBody | undefined
>;

/** A route without its type parameters, as OpenAPI describes it. */
export interface RouteShape extends Omit<AnyDefinition, 'handle' | 'fieldsToRepeat'> {
  /** Null for a body field that may be left out counts as absent. */
  readonly isNullAbsent: boolean;
  readonly isStrict: boolean;
}

/** A route that is not bound to its dependencies yet. */
export interface Route<Deps> extends RouteShape {
  respond(
    deps: Deps,
    request: Request,
    params: Readonly<Record<string, string>>,
    context: RequestContext,
  ): Promise<Response | SocketUpgrade>;
}

export interface BoundRoute extends Required<Pick<RouteShape, 'operation' | 'method' | 'path' | 'hasEffect'>> {
  respond(
    request: Request,
    params: Readonly<Record<string, string>>,
    context: RequestContext,
  ): Promise<Response | SocketUpgrade>;
}

/** What a client gets for an error of a handler: an error with the names of the surface, or a whole answer. */
export type Refuse = (error: CoreError, route: Pick<RouteShape, 'path' | 'raw'>) => CoreError | Response;

export interface SurfaceStyle {
  /** Null for a body field that may be left out counts as absent. */
  readonly isNullAbsent?: boolean;
  /** Fields of a body and parameters of a query that a route does not have are refused. */
  readonly isStrict?: boolean;
  readonly refuse?: Refuse;
}

/** The `route` function of a surface whose handlers work on `Deps`. */
export function routesFor<Deps>({
  isNullAbsent = false,
  isStrict = false,
  refuse = (error) => error,
}: SurfaceStyle = {}) {
  return function route<
    P extends z.ZodObject | undefined = undefined,
    Q extends z.ZodObject | undefined = undefined,
    B extends z.ZodType | undefined = undefined,
    D extends z.ZodType | undefined = undefined,
    L extends z.ZodType | undefined = undefined,
    R extends RawAnswer | undefined = undefined,
    E extends EventSchemas | undefined = undefined,
    S extends SocketFrames | undefined = undefined,
    C extends ContentBody | undefined = undefined,
  >(definition: RouteDefinition<Deps, P, Q, B, D, L, R, E, S, C>): Route<Deps> {
    return {
      ...definition,
      ...{ isNullAbsent, isStrict },
      async respond(deps, request, params, context) {
        // Checked before any work starts for a socket that cannot open.
        if (definition.socket) assertUpgrade(request, definition.path);
        if (request.body !== null && !definition.decodes) assertNotEncoded(request.headers);
        // A GET is refused where its answer is large.
        if (definition.method !== 'GET') context.body.room.assertRoom();
        // The body occupies memory until the request is handled.
        using reservation = context.body.room.open();
        const inputs = await readInputs(definition, request, params, {
          limits: context.body,
          reservation,
          isNullAbsent,
          isStrict,
          hasContent: definition.content !== undefined,
        });
        if ('errors' in inputs) throw new InvalidInput(inputs.errors);
        const { params: pathValues, query, body } = inputs.value;
        if (definition.method !== 'GET') {
          const subject = subjectOf(body, query, pathValues) ?? Object.values(params)[0];
          if (subject !== undefined) context.about(subject);
          await assertConnected(request);
        }
        try {
          const result = await definition.handle(deps, {
            params: pathValues as Output<P>,
            query: query as Output<Q>,
            body: body as Output<B>,
            content: (definition.content && bodyPieces(request, context.body)) as Content<C>,
            context,
          });
          return await respondWith(result, request, context);
        } catch (thrown) {
          const error = firstFailure(thrown);
          if (error instanceof CoreError && !(error instanceof InvalidInput)) {
            const refusal = refuse(error, { path: definition.path, raw: definition.raw });
            if (refusal instanceof Response) return refusal;
            throw refusal;
          }
          if (!(error instanceof HandedOver)) throw error;
          const body = inputs.raw && { ...inputs.raw, ...definition.fieldsToRepeat?.(error.facts) };
          throw new RepeatElsewhere(body && JSON.stringify(body));
        }
      },
    };
  };
}

export function bindRoutes<Deps>(routes: readonly Route<Deps>[], deps: Deps): BoundRoute[] {
  return routes.map((route) => ({
    operation: route.operation,
    method: route.method,
    path: route.path,
    hasEffect: route.hasEffect ?? false,
    respond: (request, params, context) => route.respond(deps, request, params, context),
  }));
}

type Inputs = { readonly params: unknown; readonly query: unknown; readonly body: unknown };

interface BodyReading {
  readonly limits: BodyLimits;
  readonly reservation: Reservation;
  readonly isNullAbsent: boolean;
  readonly isStrict: boolean;
  /** The handler reads a body of another kind. */
  readonly hasContent: boolean;
}

/** The query or the body of a route that has none. */
const noParameters = once(() => z.object({}));
/** Parameters that every route ignores: what libraries add so that no cache answers, and the ticket of 1.x. */
const ignoredParameters: ReadonlySet<string> = new Set(['_', 'ticket']);

/** Checks every place, so that the caller learns about all errors at once. */
async function readInputs(
  schemas: Pick<RouteShape, 'params' | 'query' | 'body'>,
  request: Request,
  params: Readonly<Record<string, string>>,
  { limits, reservation, isNullAbsent, isStrict, hasContent }: BodyReading,
): Promise<{ value: Inputs; raw: Record<string, unknown> | null } | { errors: readonly ValidationError[] }> {
  const errors: ValidationError[] = [];
  const check = (schema: z.ZodType | undefined, input: unknown, place: InputPlace): unknown => {
    if (!schema) return undefined;
    const checked = validate(schema, input, place, isStrict);
    if ('value' in checked) return checked.value;
    for (const error of checked.errors) errors.push(error);
    return undefined;
  };
  // An empty object is what libraries send where there is nothing to send.
  const isUnasked = isStrict && !schemas.body && !hasContent && request.body !== null;
  const bodySchema = schemas.body ?? (isUnasked ? noParameters() : undefined);
  const raw = bodySchema ? await readJsonObject(request, limits, reservation) : null;
  const querySchema = schemas.query ?? (isStrict && request.url.includes('?') ? noParameters() : undefined);
  const given = Object.entries(querySchema ? queryOf(request.url) : {}).filter(
    ([name]) => !ignoredParameters.has(name),
  );
  const value = {
    params: check(schemas.params, schemas.params && readText(schemas.params, params), 'path'),
    query: check(querySchema, querySchema && readText(querySchema, Object.fromEntries(given)), 'query'),
    body: check(bodySchema, bodySchema && isNullAbsent ? withoutNulls(bodySchema, raw) : raw, 'body'),
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
  // A HEAD has no body, so its stream would never end and would count as open forever.
  const events = () => (request.method === 'HEAD' ? null : context.openStream());
  if (result instanceof NdjsonStream) return ndjsonResponse(result, events());
  if (result instanceof SseStream) return sseResponse(result, events());
  const {
    data,
    details,
  }: Pick<Answer<unknown>, 'data' | 'details'> = result instanceof Answer ? result : { data: result, details: {} };
  const { message = usualMessage, hint = null, top, isFailure = false } = details;
  return jsonAnswer(success(data, { message, hint, isFailure }, top), request.method, context);
}
