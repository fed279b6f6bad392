/**
 * Serves a Connect service as routes. The library frames, decodes and encodes; the app guards, counts and logs the
 * calls as it does any request.
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
import { CoreError, firstFailure, type ErrorCode } from '../kit/errors.ts';
import { HandedOver, RepeatElsewhere } from '../kit/handed-over.ts';
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

/** `onFault` gets errors that are bugs; the client gets `internal`. */
export function rpcRoutes<S extends DescService>(
  service: S,
  implementation: ServiceImpl<S>,
  onFault: (error: unknown) => void,
): BoundRoute[] {
  const interceptors = [translated(onFault)];
  const router = createConnectRouter({ grpc: false, grpcWeb: false, readMaxBytes: maxMessageBytes, interceptors });
  router.service(service, implementation);
  return router.handlers.map((handler) => ({
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
    ...{ httpVersion: '1.1', url: request.url, method: request.method, header: withinTimer(request.headers), body },
    ...{ signal: request.signal, contextValues: createContextValues().set(callKey, call) },
  });
  const { status, header = new Headers() } = answer;
  const pieces = answer.body ?? none();
  if (call.handedOver) {
    events?.onEnd(0);
    throw new RepeatElsewhere(methodKind === 'client_streaming' ? null : Buffer.concat(read));
  }
  if (!events) return new Response(Buffer.concat(await Array.fromAsync(pieces)), { status, headers: header });
  for (const [name, value] of Object.entries(streamHeaders)) header.set(name, value);
  return new Response(
    streamBody(() => withFrames(pieces, call), events),
    { status, headers: header },
  );
}

async function* withFrames(pieces: AsyncIterable<Uint8Array>, call: Call): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    yield call.frame ?? piece;
    call.frame = null;
  }
}

const timeoutHeader = 'connect-timeout-ms';
/** A timer of 32 bits fires at once above it. */
const longestMs = 2 ** 31 - 1;

/** The library sets a timer for the limit of a call, which may have ten digits. */
function withinTimer(headers: Headers): Headers {
  if (!(Number(headers.get(timeoutHeader)) > longestMs)) return headers;
  const shorter = new Headers(headers);
  shorter.set(timeoutHeader, String(longestMs));
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
function translated(onFault: (error: unknown) => void): Interceptor {
  return (next) => async (request) => {
    const call = request.contextValues.get(callKey);
    const refuse = (thrown: unknown): ConnectError => {
      const error = firstFailure(thrown);
      if (error instanceof ConnectError) return error;
      if (error instanceof CoreError) return new ConnectError(error.message, codeOf(error.code));
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

function codeOf(code: ErrorCode): Code {
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
