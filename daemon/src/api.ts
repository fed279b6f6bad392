/** The routes of each surface and the documents that describe them. */
import { describeApi } from './http/openapi.ts';
import type { Route } from './http/route.ts';
import { rootRoutes } from './surfaces/root/index.ts';
import type { V1Deps } from './surfaces/v1/app.ts';
import * as v1Ops from './surfaces/v1/ops.ts';
import { v2Routes } from './surfaces/v2/index.ts';
import { version } from './version.ts';

export { rootRoutes, v2Routes };

export const surfaceNames = ['v1', 'v2'] as const;
export type SurfaceName = (typeof surfaceNames)[number];

export interface V1Surface {
  readonly routes: readonly Route<V1Deps>[];
  /** What to do instead of a route that this surface had once; null for any other path. */
  readonly removedHint: (method: string, path: string) => string | null;
}

/** The v1 surface; what answers although it is taken away is always here, the rest is loaded where it is served. */
export async function loadV1(isWhole: boolean): Promise<V1Surface> {
  if (!isWhole) return remainingV1;
  const { v1Routes, removedHint } = await import('./surfaces/v1/index.ts');
  return { routes: v1Routes, removedHint };
}

const remainingRoutes: readonly Route<V1Deps>[] = Object.values(v1Ops);
const remainingV1: V1Surface = {
  routes: remainingRoutes,
  removedHint: (_method, path) =>
    path.startsWith('/v1/') && !remainingRoutes.some((route) => route.path === path)
      ? 'The v1 surface is switched off here (SVC_API_SURFACE=v2); GET /v2/openapi.json lists every route.'
      : null,
};

/** OpenAPI 3.1 of v1 with these routes, the unversioned ones included. */
export function describeV1(routes: readonly Route<V1Deps>[]): object {
  const description = 'The surface of the 1.x system, kept for its clients.';
  return describeApi({ title: 'sandboxd v1', version, description }, [...routes, ...rootRoutes]);
}

/** OpenAPI 3.1 of v2, the unversioned routes included. */
export function describeV2(): object {
  const description = 'Commands, files, terminals, code, browser and desktop of one sandbox, over HTTP.';
  return describeApi({ title: 'sandboxd v2', version, description }, [...v2Routes, ...rootRoutes]);
}

export async function describeSurface(surface: SurfaceName): Promise<object> {
  return surface === 'v1' ? describeV1((await loadV1(true)).routes) : describeV2();
}
