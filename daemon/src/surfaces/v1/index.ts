/** All planes of the v1 surface, and what to tell who asks for a route that 1.x had and this daemon has not. */
import { routesOf, type Plane } from '../../http/planes.ts';
import type { V1Deps } from './app.ts';
import { inWordsOfV1 } from './wording.ts';

export { removedHint } from './removed.ts';

const planes: readonly Plane<V1Deps>[] = [
  { prefixes: ['/v1/bash/'], load: () => routesOf(import('./bash-sessions.ts'), import('./bash.ts')) },
  {
    prefixes: ['/v1/browser/', '/v1/display/'],
    load: () =>
      routesOf(
        import('./browser-page.ts'),
        import('./browser-snapshot.ts'),
        import('./browser-tabs.ts'),
        import('./browser.ts'),
        import('./desktop.ts'),
      ),
  },
  { prefixes: ['/v1/code/'], load: () => routesOf(import('./code.ts')) },
  { prefixes: ['/v1/file/watch'], load: () => routesOf(import('./watch.ts')) },
  { prefixes: ['/v1/file/'], load: async () => (await import('./file-routes.ts')).fileRoutes },
  { prefixes: ['/v1/jupyter/'], load: () => routesOf(import('./jupyter.ts')) },
  { prefixes: ['/v1/nodejs/'], load: () => routesOf(import('./nodejs.ts')) },
  {
    prefixes: ['/v1/shell/'],
    load: () => routesOf(import('./shell-sessions.ts'), import('./shell-socket.ts'), import('./shell.ts')),
  },
  { prefixes: ['/v1/'], load: () => routesOf(import('./ops.ts'), import('./sandbox.ts')) },
];

export const v1Planes: readonly Plane<V1Deps>[] = planes.map(({ prefixes, load }) => ({
  prefixes,
  load: async () => inWordsOfV1(await load()),
}));
