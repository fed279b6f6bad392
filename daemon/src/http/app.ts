/** The program as a function from request to response: request id, key, routing, errors, one log line. */
import { Hono } from 'hono';
import { CoreError } from '../kit/errors.ts';
import { mintId } from '../kit/ids.ts';
import type { Logger } from '../kit/logger.ts';
import { publicPaths, type ApiKey } from './auth.ts';
import { bug, failure } from './envelope.ts';
import type { BoundRoute, RequestContext } from './route.ts';

export interface AppDeps {
  readonly routes: readonly BoundRoute[];
  readonly apiKey: ApiKey;
  readonly logger: Logger;
}

export type App = (request: Request, keepOpen: () => void) => Promise<Response>;

interface Bindings {
  readonly context: RequestContext;
  readonly matched: { route: string };
}

/** What an id that a client sends may look like; anything else is replaced. */
const requestIdPattern = /^[A-Za-z0-9._-]{1,128}$/;

export function createApp({ routes, apiKey, logger }: AppDeps): App {
  const router = mount(routes);
  return async (request, keepOpen) => {
    const startedMs = performance.now();
    const url = new URL(request.url);
    const requestId = requestIdOf(request.headers);
    const matched = { route: 'unmatched' };
    const onFault = (error: unknown) => {
      logger.error('a bug', { request_id: requestId, route: matched.route, stack: stackOf(error) });
    };
    const context: RequestContext = {
      requestId,
      headers: request.headers,
      signal: request.signal,
      isAuthorized: apiKey.authorizes(request.headers, url),
      onFault,
    };
    const response = await guarded(context, url, () => {
      keepOpen(); // A command may take as long as it takes.
      return router.fetch(request, { context, matched } satisfies Bindings);
    });
    response.headers.set('x-request-id', requestId);
    logger.info('request', {
      request_id: requestId,
      method: request.method,
      route: matched.route,
      status: response.status,
      ms: Math.round((performance.now() - startedMs) * 100) / 100,
    });
    return response;
  };
}

/** Runs the rest for a request that may pass; turns whatever is thrown into an answer. */
async function guarded(context: RequestContext, url: URL, next: () => Promise<Response> | Response): Promise<Response> {
  try {
    if (!context.isAuthorized && !publicPaths.has(url.pathname)) throw unauthorized();
    return await next();
  } catch (error) {
    if (error instanceof CoreError) return failure(error);
    context.onFault(error);
    return bug(context.requestId);
  }
}

function mount(routes: readonly BoundRoute[]): Hono<{ Bindings: Bindings }> {
  const router = new Hono<{ Bindings: Bindings }>();
  router.onError((error) => {
    throw error;
  });
  // In the order of the paths, where a literal segment comes before a parameter: the first match wins.
  for (const [path, served] of [...byPath(routes)].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    for (const route of served) {
      router.on(route.method, honoPath(path), (c) => {
        c.env.matched.route = path;
        return route.respond(c.req.raw, c.req.param(), c.env.context);
      });
    }
    router.all(honoPath(path), (c) => {
      c.env.matched.route = path;
      throw methodNotAllowed(c.req.method, path, served);
    });
  }
  router.notFound((c) => {
    throw new CoreError('route_not_found', `no route ${c.req.method} ${c.req.path}`, {
      hint: 'GET /v2/openapi.json lists every route.',
    });
  });
  return router;
}

function byPath(routes: readonly BoundRoute[]): Map<string, BoundRoute[]> {
  const grouped = new Map<string, BoundRoute[]>();
  for (const route of routes) grouped.set(route.path, [...(grouped.get(route.path) ?? []), route]);
  return grouped;
}

function methodNotAllowed(method: string, path: string, served: readonly BoundRoute[]): CoreError {
  const allow = served.flatMap((route) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]));
  return new CoreError('method_not_allowed', `${method} is not served on ${path}`, {
    hint: `Use ${allow.join(' or ')}.`,
    facts: { allow },
  });
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
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
