/** tmux for tests of terminals: installed where it is not there. */
import { execFileSync } from 'node:child_process';
import { rootKind } from './root.ts';

/** What terminals can be held by in the root under test: the bare ones have no tmux. */
export const terminalBackends: readonly ('native' | 'tmux')[] =
  rootKind === 'machine' || rootKind === 'pid1' ? ['native', 'tmux'] : ['native'];

export function ensureTmux(): string {
  const path = Bun.which('tmux');
  if (path !== null) return path;
  try {
    execFileSync('apt-get', ['install', '--yes', '--no-install-recommends', 'tmux'], { stdio: 'ignore' });
  } catch {
    throw new Error('tests of terminals need tmux: apt-get install tmux'); // No root, no network or no Debian.
  }
  return Bun.which('tmux') ?? '/usr/bin/tmux';
}
