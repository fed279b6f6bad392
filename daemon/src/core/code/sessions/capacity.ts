/** Creates the errors for sessions and runs that exceed the limits. */
import { CoreError } from '../../../kit/errors.ts';
import type { PoolKind } from '../language.ts';

const words = {
  kernel: { variable: 'SVC_KERNEL_MAX_SESSIONS', plural: 'kernels' },
  repl: { variable: 'SVC_CODE_MAX_SESSIONS', plural: 'interpreters' },
} as const satisfies Readonly<Record<PoolKind, object>>;

export function tooManySessions(kind: PoolKind, max: number): CoreError {
  const { plural, variable } = words[kind];
  return new CoreError('capacity_reached', `there are ${max} ${plural}, which is the limit`, {
    hint: `Close a session, or raise ${variable}.`,
    next: { operation: 'code.close' },
  });
}

export function tooManyRuns(kind: PoolKind, max: number): CoreError {
  const { plural, variable } = words[kind];
  return new CoreError('capacity_reached', `${max} ${plural} were busy with other single runs; the code did not run`, {
    hint: `Send fewer runs at once, wait longer (timeout), or raise ${variable}.`,
  });
}
