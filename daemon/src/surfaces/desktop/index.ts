/** The plane of the desktop: the worker answers its routes, and the daemon forwards them. */
import type { Plane } from '../../http/route/planes.ts';
import { withReasons, type RemoteDeps } from '../../http/route/remote.ts';
import type { Refuse, Route } from '../../http/route/route.ts';
import type { DesktopDeps } from '../../operations/desktop/operation.ts';

export type { DesktopDeps } from '../../operations/desktop/operation.ts';
export { describeWorker, type DescriptionDeps } from './description.ts';

/** The routes of the worker. */
export async function workerRoutes(refuse: Refuse): Promise<readonly Route<DesktopDeps>[]> {
  const { routes } = await import('./routes.ts');
  return routes.map(({ served }) => served({ isNullAbsent: true, refuse: withReasons(refuse) }));
}

/** The same routes in the daemon. */
export function desktopPlane(refuse: Refuse): Plane<RemoteDeps> {
  return {
    prefixes: ['/v2/computer/'],
    async load() {
      const { routes } = await import('./routes.ts');
      return routes.map(({ forwarded }) => forwarded({ isNullAbsent: true, refuse }));
    },
  };
}

/** Stands before the plane of the browser, which has the rest of the prefix. */
export function desktopAliasesOfV2(refuse: Refuse): Plane<RemoteDeps> {
  return {
    prefixes: ['/v2/browser/actions', '/v2/browser/config'],
    load: async () => (await import('./aliases.ts')).aliasesOfV2(refuse),
  };
}

/** Stands before the plane of the browser, as that of v2. */
export function desktopAliasesOfV1(refuse: Refuse): Plane<RemoteDeps> {
  return {
    prefixes: ['/v1/browser/actions', '/v1/browser/config', '/v1/display/'],
    load: async () => (await import('./v1-aliases.ts')).aliasesOfV1(refuse),
  };
}
