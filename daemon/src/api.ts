/** The routes of each surface and the documents that describe them. */
import { describeApi } from './http/openapi.ts';
import { loadAll, routesOf, type Plane } from './http/planes.ts';
import type { Route } from './http/route.ts';
import { rootRoutes } from './surfaces/root/index.ts';
import type { V1Deps } from './surfaces/v1/app.ts';
import { v2Planes } from './surfaces/v2/index.ts';
import { version } from './version.ts';

export { rootRoutes, v2Planes };

export const surfaceNames = ['v1', 'v2'] as const;
export type SurfaceName = (typeof surfaceNames)[number];

export interface V1Surface {
  readonly planes: readonly Plane<V1Deps>[];
  /** What to do instead of a route that this surface had once; null for any other path. */
  readonly removedHint: (method: string, path: string) => Promise<string | null>;
}

/** The v1 surface; where it is taken away, what answers all the same. */
export async function loadV1(isWhole: boolean): Promise<V1Surface> {
  if (!isWhole) return remainingV1;
  const { v1Planes, removedHint } = await import('./surfaces/v1/index.ts');
  return { planes: v1Planes, removedHint: async (method, path) => removedHint(method, path) };
}

const remainingPlanes: readonly Plane<V1Deps>[] = [
  { prefixes: ['/v1/'], load: () => routesOf(import('./surfaces/v1/ops.ts')) },
];
const remainingV1: V1Surface = {
  planes: remainingPlanes,
  removedHint: async (_method, path) =>
    path.startsWith('/v1/') && !(await loadAll(remainingPlanes)).some((route) => route.path === path)
      ? 'The v1 surface is switched off here (SVC_API_SURFACE=v2); GET /v2/openapi.json lists every route.'
      : null,
};

/** OpenAPI 3.1 of v1 with these planes, the unversioned routes included. */
export async function describeV1(planes: readonly Plane<V1Deps>[]): Promise<object> {
  const description = 'The surface of the 1.x system, kept for its clients.';
  return describe('sandboxd v1', description, await loadAll(planes));
}

/** OpenAPI 3.1 of v2, the unversioned routes included. */
export async function describeV2(): Promise<object> {
  const description = 'Commands, files, terminals, code, browser and desktop of one sandbox, over HTTP.';
  return describe('sandboxd v2', description, await loadAll(v2Planes));
}

function describe<Deps>(title: string, description: string, routes: readonly Route<Deps>[]): object {
  return describeApi({ title, version, description }, [...routes, ...rootRoutes]);
}

export async function describeSurface(surface: SurfaceName): Promise<object> {
  return surface === 'v1' ? describeV1((await loadV1(true)).planes) : describeV2();
}
