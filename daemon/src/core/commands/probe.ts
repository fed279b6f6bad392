/** What the image has for commands and terminals. */
import type { Probe } from '../capabilities/capabilities.ts';
import type { ExecCapability } from '../capabilities/report.ts';

const shellsLookedFor = ['bash', 'sh'];
const noTerminals = 'this version does not serve the terminals plane';

/** `find` answers the first executable of a name on PATH, now. */
export function execProbe(find: (program: string) => string | null): Probe<ExecCapability> {
  return {
    look() {
      const shells = shellsLookedFor.filter((shell) => find(shell) !== null);
      const noShell = shells.length > 0 ? [] : ['no bash and no sh is on PATH: only programs with shell "none" run'];
      return {
        status: 'degraded',
        missing: [noTerminals, ...noShell],
        warnings: [],
        shells,
        pty: false,
        tmux: find('tmux') !== null,
        backend: null,
      };
    },
    unknown: { shells: [], pty: false, tmux: false, backend: null },
  };
}
