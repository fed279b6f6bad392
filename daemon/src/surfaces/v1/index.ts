/** All planes of the v1 surface, and the hints for removed 1.x routes. */
import { routesOf, type Plane } from '../../http/route/planes.ts';
import type { V1Deps } from './app.ts';

export { aliasStyle } from './app.ts';
export { removedHint } from './removed.ts';

export const v1Planes: readonly Plane<V1Deps>[] = [
  { prefixes: ['/v1/bash/'], load: () => routesOf(import('./bash-sessions.ts'), import('./bash.ts')) },
  { prefixes: ['/v1/code/'], load: () => routesOf(import('./code.ts')) },
  { prefixes: ['/v1/file/watch'], load: () => routesOf(import('./watch.ts')) },
  {
    prefixes: ['/v1/file/'],
    load: () =>
      routesOf(
        import('./files.ts'),
        import('./file-search.ts'),
        import('./file-list.ts'),
        import('./file-transfer.ts'),
        import('./file-trees.ts'),
        import('./editor.ts'),
      ),
  },
  { prefixes: ['/v1/jupyter/'], load: () => routesOf(import('./jupyter.ts')) },
  { prefixes: ['/v1/nodejs/'], load: () => routesOf(import('./nodejs.ts')) },
  {
    prefixes: ['/v1/shell/'],
    load: () => routesOf(import('./shell-sessions.ts'), import('./shell-socket.ts'), import('./shell.ts')),
  },
  { prefixes: ['/v1/'], load: () => routesOf(import('./ops.ts'), import('./sandbox.ts')) },
];
