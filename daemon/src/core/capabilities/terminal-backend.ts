/** What holds the terminals that are opened now: the one place that decides it. */

export type AskedBackend = 'auto' | 'native' | 'tmux';

export type ChosenBackend =
  | { readonly name: 'native' | 'tmux' }
  /** A program that is asked for and not there. */
  | { readonly name: null; readonly missing: string };

/** `find` answers the first executable of a name on PATH, now. */
export function terminalBackend(asked: AskedBackend, find: (program: string) => string | null): ChosenBackend {
  if (asked === 'native') return { name: 'native' };
  const missing = neededByTmux(find);
  if (missing === null) return { name: 'tmux' };
  return asked === 'auto' ? { name: 'native' } : { name: null, missing };
}

function neededByTmux(find: (program: string) => string | null): string | null {
  if (find('tmux') === null) return 'tmux';
  if (find('env') === null) return 'env';
  return find('bash') === null && find('sh') === null ? 'sh' : null;
}
