/** Sends a signal to a command, and tells honestly who is still there; or ends all of it. */
import { constants } from 'node:os';
import { Deadline } from '../../kit/deadline.ts';
import { CoreError } from '../../kit/errors.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import type { Command } from './command.ts';
import { graceMs } from './launcher.ts';

export const signalNames = Object.keys(constants.signals) as NodeJS.Signals[];

export interface Killed {
  /** How many processes were sent the signal. */
  readonly signalled: number;
  /** Pids of those who still live a moment later. */
  readonly survivors: readonly number[];
}

/** These ask a process to end; after any other signal it is expected to live. */
const endingSignals: readonly string[] = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGKILL', 'SIGABRT'];
/** How long a process has to act on such a signal before it counts as a survivor. */
const endWithinMs = 500;
const lookEveryMs = 5;
/** Beyond the grace: what the kernel may need to take a killed process away. */
const leftWithinMs = graceMs + 2000;

/** A tree can be followed on Linux alone (specification, status 501). */
export function assertCanKill(platform: NodeJS.Platform, isTree: boolean): void {
  if (!isTree || platform !== 'win32') return;
  throw new CoreError('not_implemented', 'a whole tree can be killed on Linux only', {
    hint: 'Set tree to false to end the command itself.',
  });
}

/** Null when the command has ended and nothing of it is left. `hurry` ends the wait for survivors early. */
export async function killCommand(
  command: Command,
  signal: NodeJS.Signals,
  isTree: boolean,
  hurry: AbortSignal,
): Promise<Killed | null> {
  const { child } = command;
  const told = await child.signal(constants.signals[signal], isTree ? 'tree' : 'leader');
  if (!told || (told.processes === 0 && !command.isRunning)) return null;
  // In rounds until nobody is left: a process that is born while the tree is walked would live on.
  if (signal === 'SIGKILL' && isTree) child.terminate(0);
  const living = async () => {
    const pids = await child.tree();
    return isTree ? pids : pids.filter((pid) => pid === command.pid);
  };
  using deadline = new Deadline(endingSignals.includes(signal) ? endWithinMs : 0, hurry);
  let survivors = await living();
  while (survivors.length > 0 && !deadline.passed) {
    // An end is told, but that of a descendant is not: it has to be looked at again.
    using look = new Deadline(lookEveryMs, deadline.signal);
    await child.changed(look.signal);
    survivors = await living();
  }
  return { signalled: told.processes, survivors };
}

/** TERM, the grace, KILL to everything that a command has started; resolves when its keeper has left. */
export async function endTree({ id, child }: Command): Promise<void> {
  if (child.isLetGo) throw new HandedOver();
  if (!child.isAttached) return;
  child.terminate(graceMs);
  using deadline = new Deadline(leftWithinMs);
  while (child.isAttached && !deadline.passed) await child.changed(deadline.signal);
  if (child.isLetGo) throw new HandedOver();
  if (!child.isAttached) return;
  throw new CoreError('unavailable', `the keeper of ${id} does not answer, and the command may live on`, {
    hint: `Look at the keeper of process ${child.pid}: something has stopped it.`,
  });
}
