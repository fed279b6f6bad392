/** Refuses a cell because its interpreter did not start. */
import { CoreError } from '../../../kit/errors.ts';
import type { ChildEnd } from '../../../platform/process/spawn.ts';
import { howEnded } from '../cells/end.ts';

export interface FailedStart {
  /** What did not start, as the subject of a sentence. */
  readonly what: string;
  /** What another program reported about it, after its name. */
  readonly failure?: string | null;
  /** Null while it runs. */
  readonly end: ChildEnd | null;
  /** The end of what it printed. */
  readonly errors: string;
}

/** `capacity_reached` after a kill for want of memory, which says nothing about the program; otherwise `unavailable`. */
export function startRefusal({ what, failure, end, errors }: FailedStart): CoreError {
  const how = failure ? `did not start: ${failure}` : end === null ? 'did not answer in time' : howEnded(end);
  const message = `${what} ${how}: ${errors || 'it printed nothing'}`;
  if (end?.kind === 'exited' && end.oomKilled === true)
    return new CoreError('capacity_reached', message, {
      hint: 'Try again when other programs have released memory, or give the sandbox more memory.',
    });
  return new CoreError('unavailable', message, {
    hint: 'Run the interpreter by hand to see what is missing.',
    next: { operation: 'commands.start' },
  });
}
