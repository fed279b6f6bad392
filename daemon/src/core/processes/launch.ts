/** Starts a process under a keeper, in the first of several directories that its account can enter. */
import type { Child, ChildEnd, KeeperSpawn, SpawnRequest } from '../../platform/process/spawn.ts';
import { startRefusal } from './refusal.ts';

/** `refuse` maps an error of the system to the error for the caller. The end of the child may still be `failed`. */
export async function launch(
  spawn: Pick<KeeperSpawn, 'start'>,
  request: SpawnRequest,
  refuse: (error: unknown) => unknown,
): Promise<Child> {
  try {
    return await spawn.start(request);
  } catch (error) {
    throw refuse(error);
  }
}

export interface Launched {
  readonly child: Child;
  /** The end of the requested program. The end of the child may differ. */
  readonly end: ChildEnd | null;
}

/** Tries `directories` in order. Throws the errors of `start`, and `startRefusal` when the last one fails too. */
export async function launchIn<L extends Launched>(
  directories: readonly string[],
  { what, user }: { readonly what: string; readonly user: string },
  start: (cwd: string) => Promise<L>,
): Promise<L> {
  for (const cwd of directories) {
    const launched = await start(cwd);
    const { end } = launched;
    if (end?.kind !== 'failed') return launched;
    launched.child.forget();
    if (end.stage === 'cwd' && cwd !== directories.at(-1)) continue;
    throw startRefusal(end, { what, cwd, user });
  }
  throw new Error('the last directory is refused or entered');
}

/**
 * Whether an earlier daemon reported this failure to its caller, or tried again elsewhere: the process is not a record,
 * although a daemon that was killed at that moment has left one.
 */
export function isRefusedStart({ end }: Child): boolean {
  return end?.kind === 'failed' && end.stage !== 'exec';
}
