/** Why a shell was not started, as an error that says what to do. */
import { CoreError } from '../../kit/errors.ts';
import type { ChildEnd } from '../../platform/spawn.ts';

const noSpace = new Set(['ENOSPC', 'EDQUOT']);
const noDescriptor = new Set(['EMFILE', 'ENFILE']);

export function shellRefusal(
  { stage, errno, errnoName, message }: Extract<ChildEnd, { kind: 'failed' }>,
  { cwd, user, shell }: { readonly cwd: string; readonly user: string; readonly shell: string },
): CoreError {
  const facts = { stage, errno, errno_name: errnoName };
  if (noSpace.has(errnoName)) return diskFull(facts);
  if (stage === 'cwd') {
    return new CoreError('bad_argument', `cwd ${cwd}: ${message}`, {
      hint: 'Create it first, or give another cwd.',
      facts,
    });
  }
  if (stage === 'groups' || stage === 'gid' || stage === 'uid') {
    return new CoreError('bad_argument', `cannot become ${user}: ${message}`, {
      hint: 'Leave user out, or start the daemon as root with the capabilities to switch accounts.',
      facts,
    });
  }
  if (stage === 'fork' || noDescriptor.has(errnoName)) return nothingLeft(`${stage}: ${message}`, facts);
  return new CoreError('unavailable', `${shell} could not be started (${stage}): ${message}`, {
    hint: 'Look at what is installed there; sandboxd doctor looks at what the daemon needs.',
    facts,
  });
}

/** What the directory of a shell could not be made for; anything else is handed back as it is. */
export function systemRefusal(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (noSpace.has(code)) return diskFull({ errno_name: code });
  if (noDescriptor.has(code)) return nothingLeft('the daemon has no descriptor left', { errno_name: code });
  return error;
}

function diskFull(facts: Readonly<Record<string, unknown>>): CoreError {
  return new CoreError('no_space_left', 'no space left for the output of a terminal', {
    hint: 'Free space where the runtime directory is, or start with another --runtime-dir.',
    facts,
  });
}

function nothingLeft(what: string, facts: Readonly<Record<string, unknown>>): CoreError {
  return new CoreError('capacity_reached', `no process or descriptor to be had (${what})`, {
    hint: 'Wait for commands to end, or raise the limit on processes.',
    facts,
  });
}
