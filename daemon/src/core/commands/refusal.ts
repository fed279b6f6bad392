/** Maps failures to start or read a command to errors that say what to do. */
import { errnoOf, isOutOfDescriptors } from '../../kit/errno.ts';
import { CoreError, noDescriptor } from '../../kit/errors.ts';
import { earlyKillMs } from './early-kills.ts';
import { systemRefusal } from '../processes/refusal.ts';

/** Maps an error from creating the command directory to a CoreError; returns other errors unchanged. */
export function directoryRefusal(error: unknown): unknown {
  return systemRefusal(error, 'a command');
}

/** Runs a read of a command's logs. If no file descriptor is left, the command continues and can be read later. */
export function readLogs<T>(id: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw isOutOfDescriptors(errnoOf(error)) ? unreadNow(id, noDescriptor) : error;
  }
}

/** The command has run or runs, and its output cannot be read now. */
export function unreadNow(id: string, reason: string): CoreError {
  return new CoreError('unavailable', `the output of ${id} could not be read: ${reason}`, {
    hint: 'The command is not affected. Try again when other commands have ended.',
    next: { operation: 'commands.read', id },
  });
}

export function tooManyCommands(limit: number): CoreError {
  return new CoreError('capacity_reached', `${limit} commands are running, which is the limit`, {
    hint: 'Wait for one to end, kill one, or raise SVC_MAX_COMMANDS.',
  });
}

export function withoutTerminal(id: string): CoreError {
  return new CoreError('bad_argument', `the command ${id} does not run at a terminal`, {
    hint: 'It has pipes, which have no size. Start it at a terminal.',
  });
}

export function killedEarly(id: string): CoreError {
  const seconds = earlyKillMs / 1000;
  return new CoreError('command_not_found', `no command has the id ${id}`, {
    hint: `Finished commands are kept for an hour, and only the newest 512. If a request for a command with this id arrives within ${seconds} s, nothing is started, and the command is reported as killed.`,
  });
}
