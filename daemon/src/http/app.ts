/** The HTTP application, a function from request to response: guard, key, routing, errors and the log line. */
import { CoreError, withoutDescriptors } from '../kit/errors.ts';
import { RepeatElsewhere } from '../kit/handed-over.ts';
import { mintId } from '../kit/ids.ts';
import type { Logger } from '../kit/logger.ts';
import type { MemoryBudget } from '../kit/memory-budget.ts';
import type { IdleLimit } from '../kit/types/idle-limit.ts';
import type { AnsweredRequest } from '../kit/types/answered-request.ts';
import { keyParameter, publicPaths, type ApiKey } from './guard/auth.ts';
import type { BodyLimits } from './body/body.ts';
import { Bug, failure } from './route/envelope.ts';
import {
  corsHeaders,
  guardRequest,
  preflight,
  resourcePolicy,
  type GuardSettings,
  type Sender,
} from './guard/guard.ts';
import { withoutParameter } from './body/query.ts';
import { untilClosed } from './stream/raw.ts';
import type { RequestNote } from './route/context.ts';
import type { RequestContext } from './route/context.ts';
import { createRouter, type Match, type Routing } from './route/router.ts';
import type { SocketUpgrade } from './stream/socket.ts';
import type { OpenStreams } from './stream/open-streams.ts';
import type { StreamEvents } from './stream/stream-body.ts';

export interface AppDeps extends Routing {
  readonly apiKey: ApiKey;
  readonly guard: GuardSettings;
  /** Stricter rules of a service, with its own hints; throws to refuse. */
  readonly guardFirst?: (request: Request, url: URL) => void;
  readonly body: BodyLimits;
  readonly streams: OpenStreams;
  readonly logger: Logger;
  /** Headers that carry the key here, beside the usual ones. */
  readonly keyHeaders?: readonly string[];
  /** Paths that are served without a key; those of the main port by default. */
  readonly publicPaths?: ReadonlySet<string>;
  /** For a protocol without a credential: a request may lack the key, and must not carry another one. */
  readonly isKeyOptional?: boolean;
  /** How a refusal is answered; in the envelope by default. */
  readonly failure?: (error: CoreError, path: string) => Response;
  /** Paths whose answers are not logged, because programs ask for them many times a second. */
  readonly quietPaths?: ReadonlySet<string>;
  /** Called for every request once its answer is complete, including the end of a stream. */
  readonly onResponse?: (facts: ResponseFacts) => void;
}

/** What a port beside the main one serves. */
export interface FurtherPort {
  readonly port: number;
  /** The setting that names the port. */
  readonly variable: string;
  /** Where the port listens, if not where the main port does. */
  readonly hostname?: string;
  readonly app: AppDeps;
}

export interface ResponseFacts extends AnsweredRequest {
  /** The name of the route; null when none served the request. */
  readonly operation: string | null;
  /** What the request was about; null where it named nothing. */
  readonly subject: string | null;
  /** The MCP tool that the request called, and how the call ended. */
  readonly tool: Pick<RequestNote, 'account' | 'tool' | 'tool_outcome'>;
}

export type App = (request: Request, idleLimit: IdleLimit) => Promise<Response | SocketUpgrade>;

/** The state of one request while it is served. */
interface RequestTracker extends Match {
  readonly idleLimit: IdleLimit;
  readonly requestId: string;
  /** null when the Host header does not form a URL. */
  readonly url: URL | null;
  readonly startedMs: number;
  readonly note: RequestNote;
  subject: string | null;
  /** Null until the guard has let the request pass. */
  sender: Sender | null;
  /** Set while a stream is open: the log line waits for its end. */
  isStreaming: boolean;
  status: number;
}

/** The accepted form of a client's request id; any other id is replaced. */
const requestIdPattern = /^[A-Za-z0-9._-]{1,128}$/;
/** The route name of a request that matched no route. */
export const unmatchedRoute = 'unmatched';
const switchingProtocols = 101;
/** Answers up to this size do not count, because every request takes about as much memory. */
const smallBytes = 32 * 1024;

export function createApp(deps: AppDeps): App {
  const router = createRouter(deps);
  return async (request, idleLimit) => {
    const tracker = begin(request, idleLimit);
    const response = await answer(deps, router, request, tracker);
    const result = tracker.upgrade ?? response;
    tracker.status = result instanceof Response ? result.status : switchingProtocols;
    if (result instanceof Response) {
      result.headers.set('x-request-id', tracker.requestId);
      // Answers describe the current state and must not be cached, unless the route sets its own policy.
      if (!result.headers.has('cache-control')) result.headers.set('cache-control', 'no-store');
      result.headers.set('cross-origin-resource-policy', resourcePolicy(tracker.sender));
      for (const [name, value] of corsHeaders(deps.guard, request.headers)) result.headers.set(name, value);
    }
    if (!tracker.isStreaming) {
      const bytes = bytesOf(response);
      if ((bytes ?? 0) > smallBytes) void holdUntilSent(deps.body.room, bytes ?? 0, idleLimit);
      finish(deps, request, tracker, bytes);
    }
    return result;
  };
}

/** The runtime keeps an answer until the client has received it. */
async function holdUntilSent(room: MemoryBudget, bytes: number, idleLimit: IdleLimit): Promise<void> {
  using _held = room.hold(bytes);
  await untilClosed(idleLimit);
}

function begin(request: Request, idleLimit: IdleLimit): RequestTracker {
  return {
    idleLimit,
    requestId: requestIdOf(request.headers),
    url: URL.parse(absoluteUrl(request)),
    startedMs: performance.now(),
    note: {},
    route: unmatchedRoute,
    operation: null,
    subject: null,
    upgrade: null,
    sender: null,
    isStreaming: false,
    status: 0,
  };
}

/** Serves the request and turns every thrown error except RepeatElsewhere into an answer. */
async function answer(
  deps: AppDeps,
  router: ReturnType<typeof createRouter>,
  request: Request,
  tracker: RequestTracker,
): Promise<Response> {
  const { headers } = request;
  const { url } = tracker;
  const refusalOf = (thrown: unknown): CoreError => {
    const error = withoutDescriptors(thrown);
    if (error instanceof CoreError) return error;
    const { requestId, route } = tracker;
    deps.logger.error('a bug', { request_id: requestId, route, stack: stackOf(error) });
    return new Bug(requestId);
  };
  const stream = (end: () => void): StreamEvents => {
    tracker.isStreaming = true;
    return {
      onFault(error) {
        // The client sees the stream break off.
        tracker.note.broken_off = refusalOf(error).message;
      },
      onEnd(bytes) {
        end();
        finish(deps, request, tracker, bytes);
      },
    };
  };
  try {
    if (!url)
      throw new CoreError('malformed_request', 'the Host header is not a host', { hint: 'Send a valid Host header.' });
    deps.guardFirst?.(request, url);
    const sender = guardRequest(deps.guard, request, url);
    tracker.sender = sender;
    const early = preflight(deps.guard, request);
    if (early) return early;
    const isAuthorized = deps.isKeyOptional
      ? deps.apiKey.allows(headers, url)
      : deps.apiKey.authorizes(headers, url, deps.keyHeaders);
    if (!isAuthorized && !(deps.publicPaths ?? publicPaths).has(url.pathname)) throw unauthorized();
    // A command may run for any time. The body, which may stall, has its own timeout.
    tracker.idleLimit.lift();
    const context: RequestContext = {
      requestId: tracker.requestId,
      headers,
      mayChange: sender.mayChange,
      signal: request.signal,
      isAuthorized,
      keyInUrl: url.searchParams.get(keyParameter),
      body: deps.body,
      note: tracker.note,
      idleLimit: tracker.idleLimit,
      about(subject) {
        tracker.subject = subject;
      },
      openStream: () => stream(deps.streams.open()),
      openAnswer(bytes) {
        const held = deps.body.room.hold(bytes);
        return stream(() => held[Symbol.dispose]());
      },
    };
    return await router(asRouted(request, url), { context, match: tracker, onFault: refusalOf });
  } catch (error) {
    if (error instanceof RepeatElsewhere) throw error;
    const refuse = deps.failure ?? failure;
    return refuse(refusalOf(error), url?.pathname ?? '');
  }
}

/** The absolute URL. The runtime refuses HTTP/1.1 without Host; HTTP/1.0 needs no Host and then has only a path. */
function absoluteUrl({ url, headers }: Request): string {
  return url.startsWith('/') && !headers.has('host') ? `http://localhost${url}` : url;
}

/** The request that a route sees: with an absolute URL and without a key in the URL. */
function asRouted(request: Request, url: URL): Request {
  const absolute = absoluteUrl(request);
  const address = url.searchParams.has(keyParameter) ? withoutParameter(absolute, keyParameter) : absolute;
  return address === request.url ? request : new Request(address, request);
}

function finish(deps: AppDeps, request: Request, tracker: RequestTracker, bytes: number | null): void {
  tracker.idleLimit.restore();
  const { requestId, route, operation, subject, status, startedMs, note, url } = tracker;
  const isQuiet = deps.quietPaths?.has(url?.pathname ?? '') ?? false;
  const { method, headers } = request;
  const ms = Math.round((performance.now() - startedMs) * 100) / 100;
  const startedAtMs = performance.timeOrigin + startedMs;
  const traceparent = headers.get('traceparent');
  // Done later, so that the answer does not wait for the metrics and the log.
  setImmediate(() => {
    const served = { route, operation, subject, status };
    deps.onResponse?.({ requestId, method, ...served, startedMs: startedAtMs, ms, traceparent, tool: note });
    if (!isQuiet) deps.logger.info('request', { request_id: requestId, method, route, status, ms, bytes, ...note });
  });
}

/** null where the length is known only after the body has been written. */
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
