/** Maps the end of a command to the exit code of this process. */
import { exitClientFailed } from './failure.ts';
import type { Output } from './follow.ts';
import { say } from './standard-streams.ts';
import type { CommandView } from './wire.ts';

const exitTimedOut = 124;
const exitNotRunnable = 126;
const exitNotFound = 127;

export async function exitCodeOf(exit: Extract<Output, { kind: 'exit' }>, id: string): Promise<number> {
  if (exit.status === 'timed_out') {
    await say('exec: the command was ended by --timeout');
    return exitTimedOut;
  }
  if (exit.exitCode !== null) return exit.exitCode;
  if (exit.status === 'failed') return exitNotRunnable;
  await say(`exec: the keeper of ${id} was killed; its exit code is unknown`);
  return exitClientFailed;
}

export async function tellFailedStart({ command, startError }: CommandView): Promise<number> {
  await say(`exec: cannot run ${command}: ${startError?.message ?? 'the reason is not known'}`);
  return startError?.errnoName === 'ENOENT' ? exitNotFound : exitNotRunnable;
}
