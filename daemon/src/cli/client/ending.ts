/** Maps the end of a command to the exit code of this process. */
import type { Command, Ending } from '../../../../clients/typescript/src/index.ts';
import { exitClientFailed } from './failure.ts';
import { say } from './standard-streams.ts';

const exitTimedOut = 124;
const exitNotRunnable = 126;
const exitNotFound = 127;

export async function exitCodeOf(exit: Ending, id: string): Promise<number> {
  if (exit.status === 'timed_out') {
    await say('exec: the command was ended by --timeout');
    return exitTimedOut;
  }
  if (exit.exitCode !== null) return exit.exitCode;
  if (exit.status === 'failed') return exitNotRunnable;
  await say(`exec: the keeper of ${id} was killed; its exit code is unknown`);
  return exitClientFailed;
}

export async function tellFailedStart({ command, error }: Command): Promise<number> {
  await say(`exec: cannot run ${command}: ${error?.message ?? 'the reason is not known'}`);
  return error?.errno_name === 'ENOENT' ? exitNotFound : exitNotRunnable;
}
