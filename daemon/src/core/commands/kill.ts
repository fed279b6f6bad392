/** Sends a signal to a command and reports the survivors, or ends its whole process tree. */
import { constants } from 'node:os';
import { Deadline } from '../../kit/deadline.ts';
import { CoreError } from '../../kit/errors.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import { terminate } from '../processes/terminate.ts';
import type { Command } from './command.ts';
import { graceMs } from './launcher.ts';

export const signalNames = Object.keys(constants.signals) as NodeJS.Signals[];

export interface Killed {
  /** Number of processes that received the signal. */
  readonly signalled: number;
  /** Pids of the processes that are still alive a moment later. */
  readonly survivors: readonly number[];
}

/** Signals that should end a process. After any other signal, processes are expected to survive. */
const endingSignals: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGKILL', 'SIGABRT'];
/** How long a process has to end after such a signal before it counts as a survivor. */
const endWithinMs = 500;
const lookEveryMs = 5;

export function isEnding(signal: NodeJS.Signals): boolean {
  return endingSignals.includes(signal);
}

/** Process trees can be tracked on Linux only (specification, status 501). */
export function assertCanKill(platform: NodeJS.Platform, isTree: boolean): void {
  if (!isTree || platform !== 'win32') return;
  throw new CoreError('not_implemented', 'a whole tree can be killed on Linux only', {
    hint: 'Kill the command without its tree, or run it on Linux.',
  });
}

/** Returns null if no process of the command is left. `hurry` ends the wait for survivors early. */
export async function killCommand(
  command: Command,
  signal: NodeJS.Signals,
  isTree: boolean,
  hurry: AbortSignal,
): Promise<Killed | null> {
  const { child } = command;
  const reached = await child.signal(constants.signals[signal], isTree ? 'tree' : 'leader');
  if (!reached || (reached.processes === 0 && !command.isRunning)) return null;
  // `terminate` repeats until no process is left: a process forked during the tree walk would otherwise survive.
  if (signal === 'SIGKILL' && isTree) child.terminate(0);
  const living = async () => {
    const pids = await child.tree();
    return isTree ? pids : pids.filter((pid) => pid === command.pid);
  };
  using deadline = new Deadline(isEnding(signal) ? endWithinMs : 0, hurry);
  let survivors = await living();
  while (survivors.length > 0 && !deadline.passed) {
    // The keeper reports the end of the leader but not of a descendant, so the tree is polled.
    using look = new Deadline(lookEveryMs, deadline.signal);
    await child.changed(look.signal);
    survivors = await living();
  }
  return { signalled: reached.processes, survivors };
}

/** Ends the whole process tree of a command. Resolves when the keeper has exited. */
export async function endTree({ id, child }: Command): Promise<void> {
  const isGone = await terminate(child, graceMs);
  if (child.ownership.isLeft) throw new HandedOver();
  if (isGone) return;
  throw new CoreError('unavailable', `the keeper of ${id} does not answer, and the command may live on`, {
    hint: `Check whether the keeper of process ${child.pid} is stopped.`,
  });
}
