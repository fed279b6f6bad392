/** Why a command was not started, as an error that says what to do. */
import { CoreError } from '../../kit/errors.ts';
import type { ChildEnd } from '../../platform/spawn.ts';
import type { CommandNote } from './note.ts';

/** The failures that are the request's or the machine's; null for one that is the command's own result. */
export function startRefusal(end: Extract<ChildEnd, { kind: 'failed' }>, note: CommandNote): CoreError | null {
  const { stage, errno, errnoName, message } = end;
  const facts = { stage, errno, errno_name: errnoName };
  if (stage === 'exec') return null;
  if (isDiskFull(errnoName)) return diskFull(facts);
  switch (stage) {
    case 'cwd':
      return new CoreError('bad_argument', `cwd ${note.cwd}: ${message}`, {
        hint: 'Create it first, or give another cwd.',
        facts,
      });
    case 'groups':
    case 'gid':
    case 'uid':
      return new CoreError('bad_argument', `cannot become ${note.user}: ${message}`, {
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
      return new CoreError('unavailable', `the command could not be started (${stage}): ${message}`, {
        hint: 'sandboxd doctor looks at what the daemon needs.',
        facts,
      });
  }
}

/** What the directory of a command could not be made for; anything else is handed back as it is. */
export function systemRefusal(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (isDiskFull(code)) return diskFull({ errno_name: code });
  if (isOutOfDescriptors(code)) return nothingLeft('the daemon has no descriptor left', { errno_name: code });
  return error;
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

function isDiskFull(errnoName: string): boolean {
  return errnoName === 'ENOSPC' || errnoName === 'EDQUOT';
}

function isOutOfDescriptors(errnoName: string): boolean {
  return errnoName === 'EMFILE' || errnoName === 'ENFILE';
}

function nothingLeft(what: string, facts: Readonly<Record<string, unknown>>): CoreError {
  return new CoreError('capacity_reached', `no process or descriptor to be had (${what})`, {
    hint: 'Wait for commands to end, or raise the limit on processes.',
    facts,
  });
}

function diskFull(facts: Readonly<Record<string, unknown>>): CoreError {
  return new CoreError('no_space_left', 'no space left for the output of a command', {
    hint: 'Free space where the runtime directory is, or start with another --runtime-dir.',
    facts,
  });
}
