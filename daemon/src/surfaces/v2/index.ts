/** All planes of the v2 surface. */
import { routesOf, type Plane } from '../../http/route/planes.ts';
import type { V2Deps } from './app.ts';

export const v2Planes: readonly Plane<V2Deps>[] = [
  { prefixes: ['/v2/commands'], load: () => routesOf(import('./commands.ts'), import('./sessions.ts')) },
  {
    prefixes: ['/v2/fs/'],
    load: () =>
      routesOf(
        import('./files.ts'),
        import('./file-edit.ts'),
        import('./file-search.ts'),
        import('./file-trees.ts'),
        import('./transfer.ts'),
        import('./tree.ts'),
      ),
  },
  { prefixes: ['/v2/watch'], load: () => routesOf(import('./watch.ts')) },
  {
    prefixes: ['/v2/pty/'],
    load: () =>
      routesOf(
        import('./terminals.ts'),
        import('./terminal-sockets.ts'),
        import('./terminal-screen.ts'),
        import('./terminal-exec.ts'),
      ),
  },
  { prefixes: ['/v2/code/'], load: () => routesOf(import('./code.ts'), import('./code-info.ts')) },
  { prefixes: ['/v2/'], load: () => routesOf(import('./ops.ts')) },
];
