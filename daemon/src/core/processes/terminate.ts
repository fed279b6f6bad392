/** Ends a process with everything that it started: TERM, a grace period, KILL. */
import { constants } from 'node:os';
import { Deadline } from '../../kit/deadline.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import type { Child } from '../../platform/process/spawn.ts';

/** Time that the kernel may need to remove killed processes. */
const removedWithinMs = 2000;
const lookEveryMs = 5;

/** Resolves when the keeper has exited; false if the keeper does not answer. Throws `HandedOver`. */
export async function terminate(child: Child, graceMs: number): Promise<boolean> {
  if (child.ownership.isLeft) throw new HandedOver();
  if (child.end?.kind === 'lost') await terminateOrphans(child, graceMs);
  if (!child.isAttached) return true;
  child.terminate(graceMs);
  using deadline = new Deadline(graceMs + removedWithinMs);
  while (child.isAttached && !deadline.passed) await child.changed(deadline.signal);
  return !child.isAttached;
}

/** Also removes the record. A keeper that does not answer still ends the process when the keeper is continued. */
export async function terminateAndForget(child: Child, graceMs = 0): Promise<void> {
  await terminate(child, graceMs);
  child.forget();
}

/** The same in the background. After a handover, the next daemon ends the process. */
export function terminateLater(child: Child, onFault: (error: unknown) => void, graceMs = 0): void {
  terminateAndForget(child, graceMs).catch((error: unknown) => {
    if (!(error instanceof HandedOver)) onFault(error);
  });
}

/** Without a keeper, ends the processes that are still in the session of the process. */
async function terminateOrphans(child: Child, graceMs: number): Promise<void> {
  await child.signal(constants.signals.SIGTERM, 'tree');
  using deadline = new Deadline(graceMs);
  while ((await child.tree()).length > 0 && !deadline.passed) {
    using look = new Deadline(lookEveryMs, deadline.signal);
    await child.changed(look.signal);
  }
  await child.signal(constants.signals.SIGKILL, 'tree');
}
