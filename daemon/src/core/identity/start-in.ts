/** Starts a process in the first of some directories that its account can enter. */
import type { Child, ChildEnd } from '../../platform/spawn.ts';
import { startRefusal } from './refusal.ts';

interface Started {
  readonly child: Child;
  /** Of what was to be started; that of the child may be another. */
  readonly end: ChildEnd | null;
}

/** `directories`: the best one first. Throws what `start` does, and `startRefusal` for what did not start in the last. */
export async function startIn<S extends Started>(
  directories: readonly string[],
  { what, user }: { readonly what: string; readonly user: string },
  start: (cwd: string) => Promise<S>,
): Promise<S> {
  for (const cwd of directories) {
    const started = await start(cwd);
    const { end } = started;
    if (end?.kind !== 'failed') return started;
    started.child.forget();
    if (end.stage === 'cwd' && cwd !== directories.at(-1)) continue;
    throw startRefusal(end, { what, cwd, user });
  }
  throw new Error('the last directory is refused or entered');
}
