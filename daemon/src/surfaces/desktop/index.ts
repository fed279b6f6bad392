/** The plane of the desktop: the worker answers its routes, and the daemon forwards them. */
import type { Plane } from '../../http/route/planes.ts';
import type { RemoteDeps } from '../../http/route/remote.ts';
import type { Route, SurfaceStyle } from '../../http/route/route.ts';
import type { DesktopDeps } from '../../operations/desktop/operation.ts';
import type { DesktopLiveDeps } from './live.ts';

export type { DesktopDeps } from '../../operations/desktop/operation.ts';
export { describeWorker, type DescriptionDeps } from './description.ts';
export type { DesktopLiveDeps } from './live.ts';

/** The routes of the worker, which a newer daemon may send fields that they do not know. */
export async function workerRoutes(style: SurfaceStyle): Promise<readonly Route<DesktopDeps>[]> {
  const [{ routes }, { withReasons }] = await Promise.all([
    import('./routes.ts'),
    import('../../http/route/remote.ts'),
  ]);
  return routes.map(({ served }) => served(withReasons({ ...style, isStrict: false })));
}

/** The same routes in the daemon, which also shows the display as it changes. */
export function desktopPlane(style: SurfaceStyle): Plane<DesktopLiveDeps> {
  return {
    prefixes: ['/v2/computer/'],
    async load() {
      const [{ routes }, { watchDesktop }] = await Promise.all([import('./routes.ts'), import('./live.ts')]);
      return [...routes.map(({ forwarded }) => forwarded(style)), watchDesktop(style)];
    },
  };
}

/** Stands before the plane of the browser, which has the rest of the prefix. */
export function desktopAliasesOfV2(style: SurfaceStyle): Plane<RemoteDeps> {
  return {
    prefixes: ['/v2/browser/actions', '/v2/browser/config'],
    load: async () => (await import('./aliases.ts')).aliasesOfV2(style),
  };
}

/** Stands before the plane of the browser, as that of v2. */
export function desktopAliasesOfV1(style: SurfaceStyle): Plane<RemoteDeps> {
  return {
    prefixes: ['/v1/browser/actions', '/v1/browser/config', '/v1/display/'],
    load: async () => (await import('./v1-aliases.ts')).aliasesOfV1(style),
  };
}
