/** The program as a function from request to response: guard, key, routing, errors, one log line. */
import { CoreError } from '../kit/errors.ts';
import { HandedOver } from '../kit/handed-over.ts';
import { mintId } from '../kit/ids.ts';
import type { Logger } from '../kit/logger.ts';
import { keyParameter, publicPaths, type ApiKey } from './auth.ts';
import type { BodyLimits } from './body.ts';
import { corsHeaders, preflight } from './cors.ts';
import { bug, failure } from './envelope.ts';
import { guardRequest, type GuardSettings } from './guard.ts';
import { withoutParameter } from './query.ts';
import type { RequestContext, RequestNote } from './route.ts';
import { createRouter, type Match, type Routing } from './router.ts';
import { isUpgrade, offeredProtocols, type SocketUpgrade } from './socket.ts';
import type { OpenStreams } from './open-streams.ts';

export interface AppDeps extends Routing {
  readonly apiKey: ApiKey;
  readonly guard: GuardSettings;
  readonly body: BodyLimits;
  readonly streams: OpenStreams;
  readonly logger: Logger;
  /** Told of every request once its answer is complete, a stream's end included. */
  readonly onResponse?: (facts: ResponseFacts) => void;
}

export interface ResponseFacts {
  readonly requestId: string;
  readonly method: string;
  /** The template of the route, or `unmatched`. */
  readonly route: string;
  readonly status: number;
  /** Since 1970. */
  readonly startedMs: number;
  readonly ms: number;
  /** The header of that name, as it came. */
  readonly traceparent: string | null;
}

/** The limit on how long a connection may stay silent; it outlives a request, and so does its lifting. */
export interface IdleLimit {
  lift(): void;
  restore(): void;
  /** False when the answer is complete, or the client has gone. */
  isOpen(): boolean;
}

export type App = (request: Request, idleLimit: IdleLimit) => Promise<Response | SocketUpgrade>;

/** What becomes known of a request on its way. */
interface Passage extends Match {
  readonly idleLimit: IdleLimit;
  readonly requestId: string;
  /** null when the Host header makes no URL. */
  readonly url: URL | null;
  readonly startedMs: number;
  readonly note: RequestNote;
  /** Set while a stream goes on: the log line waits for its end. */
  isStreaming: boolean;
  status: number;
}

/** What an id that a client sends may look like; anything else is replaced. */
const requestIdPattern = /^[A-Za-z0-9._-]{1,128}$/;
/** The route of a request that matched none. */
export const unmatchedRoute = 'unmatched';
const switchingProtocols = 101;

export function createApp(deps: AppDeps): App {
  const router = createRouter(deps);
  return async (request, idleLimit) => {
    const passage = begin(request, idleLimit);
    const response = await answer(deps, router, request, passage);
    const result = passage.upgrade ?? response;
    passage.status = result instanceof Response ? result.status : switchingProtocols;
    if (result instanceof Response) {
      result.headers.set('x-request-id', passage.requestId);
      // What the daemon tells is true now, and not for longer; a route that knows better says so.
      if (!result.headers.has('cache-control')) result.headers.set('cache-control', 'no-store');
      for (const [name, value] of corsHeaders(deps.guard, request.headers)) result.headers.set(name, value);
    }
    if (!passage.isStreaming) finish(deps, request, passage, bytesOf(response));
    return result;
  };
}

function begin(request: Request, idleLimit: IdleLimit): Passage {
  return {
    idleLimit,
    requestId: requestIdOf(request.headers),
    url: URL.parse(request.url),
    startedMs: performance.now(),
    note: {},
    route: unmatchedRoute,
    upgrade: null,
    isStreaming: false,
    status: 0,
  };
}

/** Everything that is thrown becomes an answer here. */
async function answer(
  deps: AppDeps,
  router: ReturnType<typeof createRouter>,
  request: Request,
  passage: Passage,
): Promise<Response> {
  const { headers } = request;
  const { url } = passage;
  const onFault = (error: unknown) => {
    const { requestId, route } = passage;
    deps.logger.error('a bug', { request_id: requestId, route, stack: stackOf(error) });
  };
  try {
    if (!url)
      throw new CoreError('malformed_request', 'the Host header is no host', { hint: 'Send a valid Host header.' });
    guardRequest(deps.guard, headers, url);
    const early = preflight(deps.guard, request);
    if (early) return early;
    assertProtocol(headers);
    const isAuthorized = deps.apiKey.authorizes(headers, url);
    if (!isAuthorized && !publicPaths.has(url.pathname)) throw unauthorized();
    // A command may take as long as it takes; what may stall, the body, has a limit of its own.
    passage.idleLimit.lift();
    const context: RequestContext = {
      requestId: passage.requestId,
      headers,
      signal: request.signal,
      isAuthorized,
      body: deps.body,
      note: passage.note,
      idleLimit: passage.idleLimit,
      openStream() {
        const end = deps.streams.open();
        passage.isStreaming = true;
        return {
          onFault(error) {
            // The system, and not the daemon: the client sees the stream break off.
            if (error instanceof CoreError) passage.note.broken_off = error.message;
            else onFault(error);
          },
          onEnd(bytes) {
            end();
            finish(deps, request, passage, bytes);
          },
        };
      },
    };
    return await router(withoutKey(request, url), { context, match: passage, onFault });
  } catch (error) {
    if (error instanceof CoreError) return failure(error);
    if (error instanceof HandedOver) throw error; // The request is made again elsewhere, and answered there.
    onFault(error);
    return bug(passage.requestId);
  }
}

/** A route, and what it hands on or logs, never sees a key in a URL. */
function withoutKey(request: Request, url: URL): Request {
  if (!url.searchParams.has(keyParameter)) return request;
  return new Request(withoutParameter(request.url, keyParameter), request);
}

/** A client that offers only its key would be given it back as the selected protocol. */
function assertProtocol(headers: Headers): void {
  if (!isUpgrade(headers)) return;
  const { offersProtocol, keys } = offeredProtocols(headers);
  if (keys.length === 0 || offersProtocol) return;
  throw new CoreError('malformed_request', 'the key was offered as the only subprotocol', {
    hint: 'Offer svc.v2 beside svc.key.<base64url>.',
  });
}

function finish(deps: AppDeps, request: Request, passage: Passage, bytes: number | null): void {
  passage.idleLimit.restore();
  const { requestId, route, status, startedMs, note } = passage;
  const { method, headers } = request;
  const ms = Math.round((performance.now() - startedMs) * 100) / 100;
  const startedAtMs = performance.timeOrigin + startedMs;
  const traceparent = headers.get('traceparent');
  deps.onResponse?.({ requestId, method, route, status, startedMs: startedAtMs, ms, traceparent });
  // The answer does not wait for its line in the log.
  setImmediate(() => {
    deps.logger.info('request', { request_id: requestId, method, route, status, ms, bytes, ...note });
  });
}

/** null where the length of a body is known only when it has been written. */
function bytesOf(response: Response): number | null {
  const length = response.headers.get('content-length');
  return length === null ? null : Number(length);
}

function requestIdOf(headers: Headers): string {
  const given = headers.get('x-request-id') ?? /^[\da-f]{2}-([\da-f]{32})-/.exec(headers.get('traceparent') ?? '')?.[1];
  return given && requestIdPattern.test(given) ? given : mintId('req');
}

function unauthorized(): CoreError {
  return new CoreError('unauthorized', 'a valid API key is needed', {
    hint: 'Send it as Authorization: Bearer <key>, as x-api-key: <key>, or as ?api_key=<key>.',
  });
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
