/** What terminals can be held by in the root under test. */
import { needPrograms } from './programs.ts';
import { rootKind } from './root.ts';

/** The bare roots have no tmux. */
export const terminalBackends: readonly ('native' | 'tmux')[] =
  rootKind === 'machine' || rootKind === 'pid1' ? ['native', 'tmux'] : ['native'];

/** Where it is. */
export function ensureTmux(): string {
  needPrograms('tmux');
  return Bun.which('tmux') ?? '';
}
