/** Probes which shells and terminal backends the image provides. */
import type { Probe } from '../capabilities/capabilities.ts';
import type { ExecCapability } from '../capabilities/report.ts';
import { terminalBackend, type AskedBackend } from '../capabilities/terminal-backend.ts';

const shellsLookedFor = ['bash', 'sh'];

/** `find` returns the first executable of that name on PATH now. `asked` is the requested terminal backend. */
export function execProbe(find: (program: string) => string | null, asked: AskedBackend): Probe<ExecCapability> {
  return {
    look() {
      const shells = shellsLookedFor.filter((shell) => find(shell) !== null);
      const chosen = terminalBackend(asked, find);
      const noShell =
        shells.length > 0 ? [] : ['no bash and no sh is on PATH: only programs with shell "none" run, and no terminal'];
      const noTmux =
        chosen.name === null ? [`${chosen.missing} is not on PATH, and SVC_SHELL_BACKEND asks for tmux`] : [];
      const missing = [...noShell, ...noTmux];
      return {
        status: missing.length === 0 ? 'ready' : 'degraded',
        missing,
        warnings: [],
        shells,
        pty: missing.length === 0,
        tmux: find('tmux') !== null,
        backend: chosen.name,
      };
    },
    unknown: { shells: [], pty: false, tmux: false, backend: null },
  };
}
