/** Which route a request is for. Those of a plane are loaded with the first request for one of them. */
import { Hono } from 'hono';
import { getPath } from 'hono/utils/url';
import { CoreError } from '../kit/errors.ts';
import { once } from '../kit/once.ts';
import type { BoundPlane } from './planes.ts';
import type { BoundRoute, RequestContext } from './route.ts';
import { guardHandler, SocketUpgrade } from './socket.ts';

export interface Routing {
  /** They are there from the start. */
  readonly routes: readonly BoundRoute[];
  /** Of those whose prefix a path has, the first is asked. */
  readonly planes?: readonly BoundPlane[];
  /** What to do instead of a route that was once served; null for any other path. */
  readonly removedHint?: RemovedHint;
  /** Documents that list the routes below their own folder; the last one is for every other path. */
  readonly descriptions?: readonly string[];
}

type RemovedHint = (method: string, path: string) => Promise<string | null>;

/** What a request is found to be for. */
export interface Match {
  /** The template of the route. */
  route: string;
  upgrade: SocketUpgrade | null;
}

interface Bindings {
  readonly context: RequestContext;
  readonly match: Match;
  readonly onFault: (error: unknown) => void;
}

type Router = Hono<{ Bindings: Bindings }>;

/** Answers a request by its route; throws what that throws, and `route_not_found` or `method_not_allowed`. */
export function createRouter({ routes, planes = [], removedHint = async () => null, descriptions = [] }: Routing) {
  const refusals = { removedHint, descriptions };
  const root = mount(routes, refusals);
  const lazy = planes.map(({ prefixes, load }) => ({
    prefixes,
    router: once(async () => mount(await load(), refusals)),
  }));
  return async (request: Request, bindings: Bindings): Promise<Response> => {
    const path = getPath(request);
    const plane = lazy.find(({ prefixes }) => prefixes.some((prefix) => path.startsWith(prefix)));
    return ((await plane?.router()) ?? root).fetch(request, bindings);
  };
}

function mount(
  routes: readonly BoundRoute[],
  { removedHint, descriptions }: Required<Pick<Routing, 'removedHint' | 'descriptions'>>,
): Router {
  const router: Router = new Hono();
  router.onError((error) => {
    throw error;
  });
  // In the order of the paths, where a literal segment comes before a parameter: the first match wins.
  for (const [path, served] of [...byPath(routes)].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    for (const route of served) {
      router.on(route.method, honoPath(path), async (c) => {
        c.env.match.route = path;
        const result = await route.respond(c.req.raw, c.req.param(), c.env.context);
        if (result instanceof Response) {
          // The router drops the body of a HEAD as it is, and what that reads from would stay open.
          if (c.req.method === 'HEAD') await result.body?.cancel();
          return result;
        }
        c.env.match.upgrade = new SocketUpgrade(guardHandler(result.handler, c.env.onFault));
        return new Response(null);
      });
    }
    router.all(honoPath(path), async (c) => {
      c.env.match.route = path;
      const hint = await removedHint(c.req.method, c.req.path);
      throw hint === null ? methodNotAllowed(c.req.method, path, served) : routeNotFound(c.req, hint);
    });
  }
  router.notFound(async (c) => {
    const hint = (await removedHint(c.req.method, c.req.path)) ?? whatIsServed(c.req.path, descriptions);
    throw routeNotFound(c.req, hint);
  });
  return router;
}

function routeNotFound({ method, path }: { method: string; path: string }, hint: string): CoreError {
  return new CoreError('route_not_found', `no route ${method} ${path}`, { hint });
}

function whatIsServed(path: string, descriptions: readonly string[]): string {
  const own = descriptions.find((document) => path.startsWith(document.slice(0, document.lastIndexOf('/') + 1)));
  return `GET ${own ?? descriptions.at(-1) ?? '/'} lists every route.`;
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
