/** The plane of the desktop: the worker answers its routes, and the daemon forwards them. */
import { forwarded, type ForwardDeps } from '../../http/route/forward.ts';
import type { Plane } from '../../http/route/planes.ts';
import type { Route } from '../../http/route/route.ts';
import type { DesktopDeps, DesktopRoute, Refuse } from './app.ts';

export type { DesktopDeps } from './app.ts';
export { describeWorker, type DescriptionDeps } from './description.ts';

/** The routes of the worker. */
export async function workerRoutes(refuse: Refuse): Promise<readonly Route<DesktopDeps>[]> {
  return (await loadRoutes()).map((route) => route(refuse));
}

/** The same routes in the daemon. */
export function desktopPlane(refuse: Refuse): Plane<ForwardDeps> {
  return {
    prefixes: ['/v2/computer/'],
    load: async () => (await workerRoutes(refuse)).map((route) => forwarded(route, { isNullAbsent: true, refuse })),
  };
}

/** Stands before the plane of the browser, which has the rest of the prefix. */
export function desktopAliasesOfV2(refuse: Refuse): Plane<ForwardDeps> {
  return {
    prefixes: ['/v2/browser/actions', '/v2/browser/config'],
    load: async () => (await import('./aliases.ts')).aliasesOfV2(refuse),
  };
}

/** Stands before the plane of the browser, as that of v2. */
export function desktopAliasesOfV1(refuse: Refuse): Plane<ForwardDeps> {
  return {
    prefixes: ['/v1/browser/actions', '/v1/browser/config', '/v1/display/'],
    load: async () => (await import('./v1-aliases.ts')).aliasesOfV1(refuse),
  };
}

async function loadRoutes(): Promise<readonly DesktopRoute[]> {
  const modules: readonly Readonly<Record<string, DesktopRoute>>[] = await Promise.all([
    import('./screen.ts'),
    import('./perform.ts'),
    import('./accessibility.ts'),
    import('./record.ts'),
  ]);
  return modules.flatMap((module) => Object.values(module));
}
