/** Why a process was not started, as an error that says what to do. */
import { CoreError } from '../../kit/errors.ts';
import type { ChildEnd } from '../../platform/spawn.ts';

/** What was to be started. */
export interface Wanted {
  /** In the words of the caller: `the command`, or a path. */
  readonly what: string;
  readonly cwd: string;
  readonly user: string;
}

export function startRefusal(end: Extract<ChildEnd, { kind: 'failed' }>, { what, cwd, user }: Wanted): CoreError {
  const { stage, errno, errnoName, message } = end;
  const facts = { stage, errno, errno_name: errnoName };
  if (isDiskFull(errnoName)) return diskFull(what, facts);
  switch (stage) {
    case 'cwd':
      return new CoreError('bad_argument', `cwd ${cwd}: ${message}`, {
        hint: 'Create it first, or give another cwd.',
        facts,
      });
    case 'groups':
    case 'gid':
    case 'uid':
      return new CoreError('bad_argument', `cannot become ${user}: ${message}`, {
        hint: 'Leave user out, or start the daemon as root with the capabilities to switch accounts.',
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
        hint: 'Look at what is installed there; sandboxd doctor looks at what the daemon needs.',
        facts,
      });
  }
}

/** What the directory of a process could not be made for; anything else is handed back as it is. */
export function systemRefusal(error: unknown, what: string): unknown {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (isDiskFull(code)) return diskFull(what, { errno_name: code });
  if (isOutOfDescriptors(code)) return nothingLeft('the daemon has no descriptor left', { errno_name: code });
  return error;
}

export function isOutOfDescriptors(errnoName: string): boolean {
  return errnoName === 'EMFILE' || errnoName === 'ENFILE';
}

function isDiskFull(errnoName: string): boolean {
  return errnoName === 'ENOSPC' || errnoName === 'EDQUOT';
}

function nothingLeft(what: string, facts: Readonly<Record<string, unknown>>): CoreError {
  return new CoreError('capacity_reached', `no process or descriptor to be had (${what})`, {
    hint: 'Wait for commands to end, or raise the limit on processes.',
    facts,
  });
}

function diskFull(what: string, facts: Readonly<Record<string, unknown>>): CoreError {
  return new CoreError('no_space_left', `no space left for the output of ${what}`, {
    hint: 'Free space where the runtime directory is, or start with another --runtime-dir.',
    facts,
  });
}
