/** What the image has for commands and terminals. */
import type { Probe } from '../capabilities/capabilities.ts';
import type { ExecCapability } from '../capabilities/report.ts';

const shellsLookedFor = ['bash', 'sh'];

/** `find` answers the first executable of a name on PATH, now; `asked` is what terminals are to be held by. */
export function execProbe(
  find: (program: string) => string | null,
  asked: 'auto' | 'native' | 'tmux',
): Probe<ExecCapability> {
  return {
    look() {
      const shells = shellsLookedFor.filter((shell) => find(shell) !== null);
      const tmux = find('tmux') !== null;
      const noShell =
        shells.length > 0 ? [] : ['no bash and no sh is on PATH: only programs with shell "none" run, and no terminal'];
      const noTmux = tmux || asked !== 'tmux' ? [] : ['tmux is not on PATH, and SVC_SHELL_BACKEND asks for it'];
      const missing = [...noShell, ...noTmux];
      return {
        status: missing.length === 0 ? 'ready' : 'degraded',
        missing,
        warnings: [],
        shells,
        pty: missing.length === 0,
        tmux,
        backend: backendOf(asked, tmux),
      };
    },
    unknown: { shells: [], pty: false, tmux: false, backend: null },
  };
}

/** What the next session is held by; null when there can be none. */
function backendOf(asked: 'auto' | 'native' | 'tmux', hasTmux: boolean): ExecCapability['backend'] {
  if (asked !== 'tmux') return 'native';
  return hasTmux ? 'tmux' : null;
}
