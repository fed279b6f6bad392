/** The routes of the browser that act on the desktop, which the worker runs. */
import { z } from 'zod';
import type { Placed } from '../../http/route/operation-route.ts';
import type { RemoteDeps } from '../../http/route/remote.ts';
import type { Route, SurfaceStyle } from '../../http/route/route.ts';
import { ActionBody } from '../../operations/desktop/act.ts';
import { includeScreenshot } from '../../operations/desktop/inputs.ts';
import { ActionResult } from '../../operations/desktop/views.ts';
import { action, config, passedOn } from './routes.ts';
import { namedObject } from '../../operations/inputs.ts';

export function aliasesOfV2(style: SurfaceStyle): readonly Route<RemoteDeps>[] {
  const act = passedOn(action.remote, {
    name: 'desktop.action',
    method: 'POST',
    path: '/v2/browser/actions',
    summary: 'Do one thing with the pointer or the keyboard, as POST /v2/computer/actions does',
    query: includeScreenshot,
    body: ActionBody,
    top: ActionResult,
  });
  const routes = [act, configRoute('/v2/browser/config', 'desktop.browser_config')];
  return routes.map((route) => route(style));
}

export const pixels = z.int().gt(0);

export function configRoute(path: string, name: string): Placed<RemoteDeps> {
  return passedOn(config.remote, {
    ...{ name, method: 'POST', path },
    summary: 'Set the resolution of the display',
    body: z.object({
      resolution: namedObject('Resolution', { width: pixels, height: pixels }).nullish(),
    }),
    read: ({ body }) => ({ resolution: body.resolution ?? undefined }),
    data: z.unknown(),
  });
}
