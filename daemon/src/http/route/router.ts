/** Finds the route of a request, and loads the routes of a plane at its first request. */
import { Hono } from 'hono';
import { getPath } from 'hono/utils/url';
import { CoreError } from '../../kit/errors.ts';
import { once } from '../../kit/once.ts';
import type { BoundPlane } from './planes.ts';
import type { BoundRoute } from './route.ts';
import type { RequestContext } from './context.ts';
import { guardHandler, SocketUpgrade } from '../stream/socket.ts';

export interface Routing {
  /** Routes that are loaded from the start. */
  readonly routes: readonly BoundRoute[];
  /** Planes loaded on demand; the first plane with a matching prefix serves the path. */
  readonly planes?: readonly BoundPlane[];
  /** The replacement for a route that was once served; null for any other path. */
  readonly removedHint?: RouteHint;
  /** What to call instead of a path that was never served, or not with this method: then null where nothing is near. */
  readonly nearestHint?: (method: string, path: string, isServed: boolean) => Promise<string | null>;
}

/** Null where there is nothing to say. */
type RouteHint = (method: string, path: string) => Promise<string | null>;

export interface Match {
  route: string;
  /** The name of the route; null when none served the request. */
  operation: string | null;
  upgrade: SocketUpgrade | null;
}

interface Bindings {
  readonly context: RequestContext;
  readonly match: Match;
  readonly onFault: (error: unknown) => void;
}

type Router = Hono<{ Bindings: Bindings }>;

/** Answers through a route. Throws its errors, and `route_not_found` or `method_not_allowed`. */
export function createRouter({
  routes,
  planes = [],
  removedHint = async () => null,
  nearestHint = async () => null,
}: Routing) {
  const routerOf = async (path: string): Promise<Router> => {
    const plane = lazy.find(({ prefixes }) => prefixes.some((prefix) => path.startsWith(prefix)));
    return (await plane?.router()) ?? root;
  };
  const isServed = async (path: string) => (await routerOf(path)).router.match('GET', path)[0].length > 0;
  const refusals: Refusals = {
    hintFor: async (method, path) =>
      (await removedHint(method, path)) ??
      (await sameWithoutSlashes(path, isServed)) ??
      (await nearestHint(method, path, false)),
    removedHint,
    nearestHint,
  };
  const root = mount(routes, refusals);
  const lazy = planes.map(({ prefixes, load }) => ({
    prefixes,
    router: once(async () => mount(await load(), refusals)),
  }));
  return async (request: Request, bindings: Bindings): Promise<Response> => {
    return (await routerOf(getPath(request))).fetch(request, bindings);
  };
}

interface Refusals extends Required<Pick<Routing, 'removedHint' | 'nearestHint'>> {
  /** The hint for a path without a route. */
  readonly hintFor: RouteHint;
}

function mount(routes: readonly BoundRoute[], { removedHint, nearestHint, hintFor }: Refusals): Router {
  const router: Router = new Hono();
  router.onError((error) => {
    throw error;
  });
  // Sorted by path, so that a literal segment comes before a parameter: the first match wins.
  for (const [path, served] of [...byPath(routes)].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    for (const route of served) {
      router.on(route.method, honoPath(path), async (c) => {
        c.env.match.route = path;
        if (c.req.method === 'HEAD' && route.hasEffect) throw methodNotAllowed('HEAD', path, served);
        if (route.hasEffect && !c.env.context.mayChange) throw effectOfLink(path);
        c.env.match.operation = route.operation;
        const result = await route.respond(c.req.raw, c.req.param(), c.env.context);
        if (result instanceof Response) {
          // The router drops the body of a HEAD without closing its source, so the source would stay open.
          if (c.req.method === 'HEAD') await result.body?.cancel();
          return result;
        }
        c.env.match.upgrade = new SocketUpgrade(guardHandler(result.handler, c.env.onFault));
        return new Response(null);
      });
    }
    router.all(honoPath(path), async (c) => {
      c.env.match.route = path;
      const { method, path: called } = c.req;
      const hint = await removedHint(method, called);
      throw hint === null
        ? methodNotAllowed(method, path, served, await nearestHint(method, path, true))
        : routeNotFound(c.req, hint);
    });
  }
  router.notFound(async (c) => {
    throw routeNotFound(c.req, await hintFor(c.req.method, c.req.path));
  });
  return router;
}

function routeNotFound({ method, path }: { method: string; path: string }, hint: string | null): CoreError {
  return new CoreError('route_not_found', `no route ${method} ${path}`, { hint });
}

/** A hint when the path is served without its extra slashes; null otherwise. */
async function sameWithoutSlashes(path: string, isServed: (path: string) => Promise<boolean>): Promise<string | null> {
  const plain = path.replaceAll(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '');
  return plain !== path && (await isServed(plain)) ? `Did you mean ${plain}, without the extra slash?` : null;
}

function byPath(routes: readonly BoundRoute[]): Map<string, BoundRoute[]> {
  const grouped = new Map<string, BoundRoute[]>();
  for (const route of routes) grouped.set(route.path, [...(grouped.get(route.path) ?? []), route]);
  return grouped;
}

function methodNotAllowed(
  method: string,
  path: string,
  served: readonly BoundRoute[],
  nearest: string | null = null,
): CoreError {
  const allow = served.flatMap((route) =>
    route.method === 'GET' && !route.hasEffect ? ['GET', 'HEAD'] : [route.method],
  );
  return new CoreError('method_not_allowed', `${method} is not served on ${path}`, {
    hint: `This path takes ${allow.join(', ')}.${nearest === null ? '' : ` ${nearest}`}`,
    facts: { allow },
  });
}

function effectOfLink(path: string): CoreError {
  return new CoreError('forbidden', `a link or an embedded part of a page may not call ${path}, which has an effect`, {
    hint: 'Call it with fetch from a page of a listed origin.',
  });
}

/** A parameter is one segment, or with dots the rest of the path, in which a name may have newlines. */
function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\.\.\.\}/g, String.raw`:$1{[\s\S]*}`).replaceAll(/\{(\w+)\}/g, ':$1');
}
