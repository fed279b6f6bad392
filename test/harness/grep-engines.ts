/** Options for a daemon of each engine of grep. */
import { rootKind } from './root.ts';
import type { SandboxOptions } from './sandbox.ts';

/** The directories in which the daemon searches programs, whatever PATH says. */
const hideRipgrep =
  'for d in /usr/local/sbin /usr/local/bin /usr/sbin /usr/bin /sbin /bin; do ' +
  'if [ -e $d/rg ]; then mount --bind /dev/null $d/rg || exit; fi; done; exec "$@"';
export const withoutRipgrep: SandboxOptions = {
  launcher: ['unshare', '--mount', 'sh', '-c', hideRipgrep, 'sh'],
  env: { PATH: '/usr/bin:/bin' },
};

/** Without ripgrep the built-in engine answers both times. */
const hasRipgrep = rootKind === 'machine' || rootKind === 'pid1';
export const grepEngines: Readonly<Record<string, SandboxOptions>> = {
  [hasRipgrep ? 'ripgrep' : 'built-in']: {},
  'built-in': withoutRipgrep,
};
