/** Serves the routes of another process: checks the input as that process does, and passes the answer through. */
import type { Route, RouteShape, SurfaceStyle } from './route.ts';
import type { RequestContext } from './context.ts';
import { routesFor } from './route.ts';

export interface Call {
  readonly method: RouteShape['method'];
  /** With its query. */
  readonly path: string;
  /** The JSON body; undefined for none. */
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  /** Fires when the client has gone. */
  readonly signal: AbortSignal;
}

/** Sends calls to the other process. */
export interface Upstream {
  /** Throws `unavailable` when the other process gives no answer, `capacity_reached` when too many calls are open. */
  send(call: Call): Promise<Response>;
}

export interface ForwardDeps {
  readonly upstream: Upstream;
}

/** A call as the other process serves it. */
export interface Target {
  readonly method: Call['method'];
  readonly path: string;
  readonly query?: object | undefined;
  readonly body?: unknown;
}

/** The same route, answered by the other process. */
export function forwarded<Deps>(route: Route<Deps>, style: SurfaceStyle): Route<ForwardDeps> {
  const { operation, method, path, hasEffect, summary, params, query, body, data, raw, top, errors } = route;
  return routesFor<ForwardDeps>(style)({
    ...{ operation, method, path, hasEffect, summary, params, query, body, data, raw, errors },
    ...(top && { top }),
    handle: ({ upstream }, input) =>
      forward(upstream, { method, path, query: input.query ?? {}, body: input.body }, input.context),
  });
}

export async function forward(upstream: Upstream, target: Target, context: RequestContext): Promise<Response> {
  const { method, path, query = {}, body } = target;
  const { signal } = context;
  return await upstream.send({
    method,
    path: `${path}${asQuery(query)}`,
    body,
    headers: passedHeaders(context),
    signal,
  });
}

function asQuery(values: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== null) query.set(name, String(value));
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
}

/** Headers that lead from the log of one process to that of the other, and those that choose the answer. */
function passedHeaders({ requestId, headers }: RequestContext): Record<string, string> {
  const names = ['accept', 'traceparent', 'tracestate'];
  const given = names.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(given), 'x-request-id': requestId };
}
