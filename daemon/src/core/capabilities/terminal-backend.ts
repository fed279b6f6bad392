/** Chooses the backend for new terminals. No other code makes this choice. */

export type AskedBackend = 'auto' | 'native' | 'tmux';

export type ChosenBackend =
  | { readonly name: 'native' | 'tmux' }
  /** The requested backend needs a program that is missing. */
  | { readonly name: null; readonly missing: string };

/** Uses the native backend unless tmux is requested, because tmux can lose the end of a session's output. */
export function terminalBackend(asked: AskedBackend, find: (program: string) => string | null): ChosenBackend {
  if (asked !== 'tmux') return { name: 'native' };
  const missing = neededByTmux(find);
  return missing === null ? { name: 'tmux' } : { name: null, missing };
}

function neededByTmux(find: (program: string) => string | null): string | null {
  if (find('tmux') === null) return 'tmux';
  if (find('env') === null) return 'env';
  return find('bash') === null && find('sh') === null ? 'sh' : null;
}
