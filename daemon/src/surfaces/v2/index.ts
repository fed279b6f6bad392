/** All planes of the v2 surface. */
import { routesOf, type Plane } from '../../http/route/planes.ts';
import type { V2Deps } from './app.ts';

export const v2Planes: readonly Plane<V2Deps>[] = [
  { prefixes: ['/v2/commands'], load: () => routesOf(import('./commands.ts'), import('./sessions.ts')) },
  {
    prefixes: ['/v2/fs/'],
    load: () =>
      routesOf(
        import('./files/files.ts'),
        import('./files/edit.ts'),
        import('./files/search.ts'),
        import('./files/trees.ts'),
        import('./files/transfer.ts'),
        import('./files/archive.ts'),
      ),
  },
  { prefixes: ['/v2/watch'], load: () => routesOf(import('./watch.ts')) },
  {
    prefixes: ['/v2/pty/'],
    load: () =>
      routesOf(
        import('./terminals/terminals.ts'),
        import('./terminals/sockets.ts'),
        import('./terminals/screen.ts'),
        import('./terminals/exec.ts'),
      ),
  },
  { prefixes: ['/v2/code/'], load: () => routesOf(import('./code.ts'), import('./code-info.ts')) },
  { prefixes: ['/v2/'], load: () => routesOf(import('./ops.ts'), import('./activity.ts')) },
];
