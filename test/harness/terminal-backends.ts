/** The terminal backends that are available in the root under test. */
import { needPrograms } from './programs.ts';
import { rootKind } from './root.ts';

/** The bare roots have no tmux. */
export const terminalBackends: readonly ('native' | 'tmux')[] =
  rootKind === 'machine' || rootKind === 'pid1' ? ['native', 'tmux'] : ['native'];

/** Returns the path of tmux. */
export function ensureTmux(): string {
  needPrograms('tmux');
  return Bun.which('tmux') ?? '';
}
