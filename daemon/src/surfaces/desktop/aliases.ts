/** The routes of the browser that act on the desktop: the daemon asks the worker's own routes for them. */
import { z } from 'zod';
import { forward, type ForwardDeps } from '../../http/route/forward.ts';
import { routesFor, type Route } from '../../http/route/route.ts';
import { WireAction } from './actions.ts';
import type { Refuse } from './app.ts';
import { includeScreenshot, scaledTo } from './inputs.ts';
import { ActionResult } from './views.ts';

/** The routes of the worker that answer the aliases. */
export const worker = {
  act: '/v2/computer/actions',
  config: '/v2/computer/config',
  record: '/v2/computer/record',
};
export const refusals = ['unavailable', 'bad_argument', 'capacity_reached'] as const;

/** The worker makes the answer, so the handler does not know its type. */
const AnswerOfWorker: z.ZodType = ActionResult;

export function aliasesOfV2(refuse: Refuse): readonly Route<ForwardDeps>[] {
  const route = routesFor<ForwardDeps>({ isNullAbsent: true, refuse });
  const act = route({
    operation: 'desktop.action',
    method: 'POST',
    path: '/v2/browser/actions',
    summary: 'Do one thing with the pointer or the keyboard, as POST /v2/computer/actions does',
    query: includeScreenshot,
    body: WireAction.and(z.object(scaledTo)),
    data: AnswerOfWorker,
    top: ActionResult,
    errors: refusals,
    handle: ({ upstream }, { query, body, context }) =>
      forward(upstream, { method: 'POST', path: worker.act, query, body }, context),
  });
  return [act, configRoute('/v2/browser/config', 'desktop.browser_config', refuse)];
}

export const pixels = z.int().gt(0);

export function configRoute(path: string, operation: string, refuse: Refuse): Route<ForwardDeps> {
  return routesFor<ForwardDeps>({ isNullAbsent: true, refuse })({
    operation,
    method: 'POST',
    path,
    summary: 'Set the resolution of the display',
    body: z.object({
      resolution: z.object({ width: pixels, height: pixels }).meta({ id: 'Resolution' }).nullish(),
    }),
    data: z.unknown(),
    errors: refusals,
    handle: ({ upstream }, { body, context }) =>
      forward(upstream, { method: 'POST', path: worker.config, body: given(body) }, context),
  });
}

/** The body without its nulls, which mean absence in 1.x. */
export function given(body: unknown): object {
  return Object.fromEntries(Object.entries(Object(body) as object).filter(([, value]) => value !== null));
}
