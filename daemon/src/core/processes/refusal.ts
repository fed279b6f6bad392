/** Converts the failure to start a process into an error with a hint. */
import { errnoOf, isOutOfDescriptors } from '../../kit/errno.ts';
import { CoreError, noDescriptor } from '../../kit/errors.ts';
import type { Fields } from '../../kit/types/fields.ts';
import type { ChildEnd } from '../../platform/process/spawn.ts';

/** Describes the process that was to be started. */
export interface Wanted {
  /** The caller's name for the process: `the command`, or a path. */
  readonly what: string;
  readonly cwd: string;
  readonly user: string;
}

export function startRefusal(end: Extract<ChildEnd, { kind: 'failed' }>, { what, cwd, user }: Wanted): CoreError {
  const { stage, errno, errnoName, message } = end;
  const facts = { stage, errno, errnoName };
  if (isDiskFull(errnoName)) return diskFull(what, facts);
  switch (stage) {
    case 'cwd':
      return new CoreError('bad_argument', `${cwd}: ${message}`, {
        argument: 'cwd',
        hint: cwdHint(errnoName, user),
        facts,
      });
    case 'groups':
    case 'gid':
    case 'uid':
      return new CoreError('bad_argument', `cannot become ${user}: ${message}`, {
        hint: 'Use another account, or start the daemon as root with the capabilities to switch accounts.',
        facts,
      });
    case 'rlimit':
      return new CoreError('bad_argument', `limits cannot be set: ${message}`, {
        hint: 'Only root may raise a limit above its hard value.',
        facts,
      });
    default:
      if (stage === 'fork' || isOutOfDescriptors(errnoName)) return nothingLeft(`${stage}: ${message}`, facts);
      return new CoreError('unavailable', `${what} could not be started (${stage}): ${message}`, {
        hint: 'Check that the program is installed. boxkeep doctor checks what the daemon needs.',
        facts,
      });
  }
}

function cwdHint(errnoName: string, user: string): string {
  if (errnoName === 'EACCES') return `Give the account ${user} access to the directory, or pass another directory.`;
  return errnoName === 'ENOTDIR' ? 'Pass the path of a directory.' : 'Create it first, or pass another directory.';
}

/** Maps an error from creating the process directory to a CoreError; returns other errors unchanged. */
export function systemRefusal(error: unknown, what: string): unknown {
  const code = errnoOf(error) ?? '';
  if (isDiskFull(code)) return diskFull(what, { errnoName: code });
  if (isOutOfDescriptors(code)) return nothingLeft(noDescriptor, { errnoName: code });
  return error;
}

function isDiskFull(errnoName: string): boolean {
  return errnoName === 'ENOSPC' || errnoName === 'EDQUOT';
}

function nothingLeft(what: string, facts: Fields): CoreError {
  return new CoreError('capacity_reached', `the limit on processes or descriptors is reached (${what})`, {
    hint: 'Wait for commands to end, or raise the limit on processes.',
    facts,
  });
}

function diskFull(what: string, facts: Fields): CoreError {
  return new CoreError('no_space_left', `no space left for the output of ${what}`, {
    hint: 'Free space in the file system of the runtime directory, or start with another --runtime-dir.',
    facts,
  });
}
