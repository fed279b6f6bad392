/**
 * Serves an RPC service as routes, with the protocol of Connect or gRPC. The library frames, decodes and encodes; the
 * app guards, counts and logs the calls as it does any request.
 */
import type { DescService } from '@bufbuild/protobuf';
import {
  Code,
  ConnectError,
  createConnectRouter,
  createContextKey,
  createContextValues,
  type HandlerContext,
  type Interceptor,
  type ServiceImpl,
} from '@connectrpc/connect';
import type { UniversalHandler } from '@connectrpc/connect/protocol';
import { CoreError, firstFailure, withoutDescriptors } from '../kit/errors.ts';
import { HandedOver, RepeatElsewhere } from '../kit/handed-over.ts';
import { TrailedResponse } from '../kit/types/trailed-response.ts';
import { bodyPieces } from './body/body-pieces.ts';
import type { RequestContext } from './route/context.ts';
import { statusOf } from './route/envelope.ts';
import type { BoundRoute } from './route/route.ts';
import { streamBody, streamHeaders, type StreamEvents } from './stream/stream-body.ts';

const maxMessageBytes = 4 * 1024 * 1024;

/** One call, as the interceptor and the route see it. */
interface Call {
  readonly context: RequestContext;
  /** Why the call must not run. */
  readonly refusal: Error | null;
  handedOver: boolean;
  /** Sent in place of the next message. */
  frame: Uint8Array | null;
}

const callKey = createContextKey<Call | null>(null);

/** The request that carries a call. */
export function requestOf(context: HandlerContext): RequestContext {
  return callOf(context).context;
}

/**
 * Sends a frame in place of the message that the handler yields next, past the codec of the library. Its bytes have to
 * be valid until the handler is resumed.
 */
export function replaceMessage(context: HandlerContext, frame: Uint8Array): void {
  callOf(context).frame = frame;
}

function callOf({ values }: HandlerContext): Call {
  const call = values.get(callKey);
  if (!call) throw new Error('the call did not come over a route');
  return call;
}

export interface RpcOptions {
  /** Gets errors that are bugs; the client gets `internal`. */
  readonly onFault: (error: unknown) => void;
  /** gRPC needs a port with HTTP/2. */
  readonly protocol?: 'connect' | 'grpc';
  readonly codeOf?: (error: CoreError) => Code;
}

export function rpcRoutes<S extends DescService>(
  service: S,
  implementation: ServiceImpl<S>,
  { onFault, protocol = 'connect', codeOf = usualCode }: RpcOptions,
): BoundRoute[] {
  const isGrpc = protocol === 'grpc';
  const router = createConnectRouter({
    ...{ connect: !isGrpc, grpc: isGrpc, grpcWeb: false },
    readMaxBytes: maxMessageBytes,
    interceptors: [translated({ onFault, codeOf })],
  });
  router.service(service, implementation);
  return router.handlers.map((handler) => ({
    operation: handler.requestPath.slice(1),
    method: 'POST',
    path: handler.requestPath,
    hasEffect: false,
    respond: (request, _params, context) => respond(handler, request, context),
  }));
}

async function respond(handler: UniversalHandler, request: Request, context: RequestContext): Promise<Response> {
  const { methodKind } = handler.method;
  const { events, refusal } = methodKind === 'server_streaming' ? openStream(context) : noStream;
  const call: Call = { context, refusal, handedOver: false, frame: null };
  const read: Uint8Array[] = [];
  // The messages of a client stream follow one another for any time, and cannot be sent again.
  const body = methodKind === 'client_streaming' ? streamed(request) : keeping(bodyPieces(request, context.body), read);
  // Of a stream, resolves with its first message.
  const answer = await handler({
    // The library takes gRPC with HTTP/2 only, and Connect with either.
    ...{ httpVersion: '2.0', url: request.url, method: request.method, header: withinTimer(request.headers), body },
    ...{ signal: request.signal, contextValues: createContextValues().set(callKey, call) },
  });
  const { status, header = new Headers(), trailer = new Headers() } = answer;
  const pieces = answer.body ?? none();
  if (call.handedOver) {
    events?.onEnd(0);
    throw new RepeatElsewhere(methodKind === 'client_streaming' ? null : Buffer.concat(read));
  }
  if (!events)
    return new TrailedResponse(Buffer.concat(await Array.fromAsync(pieces)), { status, headers: header }, trailer);
  for (const [name, value] of Object.entries(streamHeaders)) header.set(name, value);
  const stream = streamBody(() => withFrames(pieces, call), events);
  return new TrailedResponse(stream, { status, headers: header }, trailer);
}

async function* withFrames(pieces: AsyncIterable<Uint8Array>, call: Call): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    yield call.frame ?? piece;
    call.frame = null;
  }
}

/** A timer of 32 bits fires at once above it. */
const longestMs = 2 ** 31 - 1;
const unitsMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000 };

/** The library sets a timer for the limit of a call, which may have ten digits, and eight of hours in gRPC. */
function withinTimer(headers: Headers): Headers {
  const [, count, unit = ''] = /^(\d{1,8})([HMS])$/.exec(headers.get('grpc-timeout') ?? '') ?? [];
  const isLong = Number(headers.get('connect-timeout-ms')) > longestMs;
  if (!isLong && !(Number(count) * (unitsMs[unit] ?? 0) > longestMs)) return headers;
  const shorter = new Headers(headers);
  if (isLong) shorter.set('connect-timeout-ms', String(longestMs));
  else shorter.set('grpc-timeout', `${Math.floor(longestMs / 1000)}S`);
  return shorter;
}

const noStream = { events: null, refusal: null };

/** A refusal becomes an error of the protocol, which the interceptor throws. */
function openStream(context: RequestContext): { readonly events: StreamEvents | null; readonly refusal: Error | null } {
  try {
    return { events: context.openStream(), refusal: null };
  } catch (error) {
    return { events: null, refusal: error as Error };
  }
}

/** Errors of core become those of the protocol. */
function translated({ onFault, codeOf }: Required<Pick<RpcOptions, 'onFault' | 'codeOf'>>): Interceptor {
  return (next) => async (request) => {
    const call = request.contextValues.get(callKey);
    const refuse = (thrown: unknown): ConnectError => {
      const error = withoutDescriptors(firstFailure(thrown));
      if (error instanceof ConnectError) return error;
      if (error instanceof CoreError) return new ConnectError(error.message, codeOf(error));
      if (error instanceof HandedOver && call) call.handedOver = true;
      else if (!request.signal.aborted) onFault(error);
      return new ConnectError('internal error', Code.Internal);
    };
    try {
      if (call?.refusal) throw call.refusal;
      const response = await next(request);
      return response.stream ? { ...response, message: refusing(response.message, refuse) } : response;
    } catch (error) {
      throw refuse(error);
    }
  };
}

async function* refusing<T>(messages: AsyncIterable<T>, refuse: (error: unknown) => ConnectError): AsyncGenerator<T> {
  try {
    yield* messages;
  } catch (error) {
    throw refuse(error);
  }
}

const codesOfStatus: Readonly<Record<number, Code>> = {
  401: Code.Unauthenticated,
  403: Code.PermissionDenied,
  404: Code.NotFound,
  409: Code.FailedPrecondition,
  429: Code.ResourceExhausted,
  500: Code.Internal,
  501: Code.Unimplemented,
  503: Code.Unavailable,
  504: Code.DeadlineExceeded,
  507: Code.ResourceExhausted,
};

export function usualCode({ code }: CoreError): Code {
  return code === 'file_exists' ? Code.AlreadyExists : (codesOfStatus[statusOf[code]] ?? Code.InvalidArgument);
}

async function* keeping(pieces: AsyncIterable<Uint8Array>, kept: Uint8Array[]): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    kept.push(piece);
    yield piece;
  }
}

async function* streamed({ body }: Request): AsyncGenerator<Uint8Array> {
  if (body) yield* body as unknown as AsyncIterable<Uint8Array>;
}

async function* none(): AsyncGenerator<Uint8Array> {}
