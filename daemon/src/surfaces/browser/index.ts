/** The plane of the browser, for a surface that serves it under its own prefix. */
import type { Plane } from '../../http/route/planes.ts';
import type { BrowserDeps, BrowserRoute, Mount } from './app.ts';

export type { BrowserDeps } from './app.ts';

export function browserPlane(mount: Mount): Plane<BrowserDeps> {
  return {
    prefixes: [`${mount.prefix}/browser/`],
    load: async () => (await loadRoutes(mount)).map((route) => route(mount)),
  };
}

async function loadRoutes({ hasLivePictures }: Mount): Promise<readonly BrowserRoute[]> {
  const modules: readonly Readonly<Record<string, BrowserRoute>>[] = await Promise.all([
    import('./browser.ts'),
    import('./tabs.ts'),
    import('./pages.ts'),
    import('./snapshot.ts'),
    import('./actions.ts'),
    import('./cookies.ts'),
    import('./network.ts'),
    ...(hasLivePictures ? [import('./live.ts')] : []),
  ]);
  return modules.flatMap((module) => Object.values(module));
}
