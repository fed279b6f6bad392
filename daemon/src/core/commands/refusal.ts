/** Why a command was not started, or cannot be read, as an error that says what to do. */
import { CoreError } from '../../kit/errors.ts';
import type { ChildEnd } from '../../platform/spawn.ts';
import { isOutOfDescriptors, startRefusal, systemRefusal } from '../identity/refusal.ts';
import type { CommandNote } from './note.ts';

/** The failures that are the request's or the machine's; null for one that is the command's own result. */
export function commandRefusal(
  end: Extract<ChildEnd, { kind: 'failed' }>,
  { cwd, user }: CommandNote,
): CoreError | null {
  return end.stage === 'exec' ? null : startRefusal(end, { what: 'the command', cwd, user });
}

/** What the directory of a command could not be made for; anything else is handed back as it is. */
export function directoryRefusal(error: unknown): unknown {
  return systemRefusal(error, 'a command');
}

/** Runs what reads the logs of a command; without a descriptor for that the command goes on, and can be read later. */
export function readLogs<T>(id: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isOutOfDescriptors((error as NodeJS.ErrnoException).code ?? '')) throw error;
    throw new CoreError('unavailable', `the daemon has no descriptor left to read the output of ${id}`, {
      hint: `The command is not affected; GET /v2/commands/${id} reads it once others have ended.`,
    });
  }
}

export function tooManyCommands(limit: number): CoreError {
  return new CoreError('capacity_reached', `${limit} commands are running, which is the most`, {
    hint: 'Wait for one to end, kill one, or raise SVC_MAX_COMMANDS.',
  });
}
