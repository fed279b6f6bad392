/** Runs code for the routes of 1.x, and says in one sentence what became of it. */
import type { Cell } from '../../core/code/cell.ts';
import { defaultKernel } from '../../core/code/kernels.ts';
import type { CodeSession } from '../../core/code/session.ts';
import type { CellSpec } from '../../core/code/sessions.ts';
import { InvalidInput } from '../../http/envelope.ts';
import type { RequestContext } from '../../http/route.ts';
import { Deadline } from '../../kit/deadline.ts';
import { CoreError, type ErrorCode } from '../../kit/errors.ts';
import { isPath } from '../../kit/path-text.ts';
import type { V1Deps } from './app.ts';

/** Seconds. */
export const timeLimits = { default: 30, most: 300 } as const;

export const runErrors: readonly ErrorCode[] = [
  'bad_argument',
  'session_not_found',
  'session_busy',
  'capacity_reached',
  'unavailable',
  'no_space_left',
];

/** What a body may say of it. */
export interface RunBody {
  readonly code: string;
  readonly timeout?: number | null | undefined;
  readonly cwd?: string | null | undefined;
}

/** What all routes that run code have in common. */
export function cellSpec({ code, timeout, cwd }: RunBody) {
  const timeoutMs = (timeout ?? timeLimits.default) * 1000;
  return { code, timeoutMs, cwd: directoryOf(cwd), env: {}, user: null, entersDirectory: true };
}

/** The empty text is none. Throws `bad_argument` for what no directory can be called. */
export function directoryOf(cwd: string | null | undefined): string | null {
  if (!cwd) return null;
  if (isPath(cwd)) return cwd;
  throw new CoreError('bad_argument', `no directory can be called ${JSON.stringify(cwd)}`, {
    hint: 'Give a path without a NUL byte.',
  });
}

export interface Ran {
  readonly session: CodeSession;
  readonly cell: Cell;
}

export async function runCell(deps: V1Deps, spec: CellSpec, context: RequestContext): Promise<Ran> {
  const ran = await deps.code.execute(spec);
  context.note.account = ran.session.record.account;
  using patience = new Deadline(null, context.signal, deps.closing);
  await ran.cell.finished(patience.signal);
  if (ran.cell.failure) throw ran.cell.failure;
  return ran;
}

/** That code fails is no failure of the request; that it has no directory to run in is one. */
export function describeRun({ cell }: Ran) {
  const { directoryRefusal, end, record } = cell;
  if (directoryRefusal !== null) {
    const message = `cwd ${record.cwd}: ${directoryRefusal}`;
    return { isFailure: true, message, hint: 'Create it first, or give another cwd.' };
  }
  if (end === null) return { message: 'The daemon is going; the code had not ended' };
  if (end.status === 'timeout') return { message: `The code was interrupted after ${record.timeoutMs / 1000} s` };
  if (end.death && end.status === 'error') return { message: 'The interpreter has died', hint: 'Its state is gone.' };
  if (end.death) return { message: 'The code has run in a new interpreter: the one before it had died' };
  return { message: end.status === 'error' ? 'The code ended with an error' : 'The code has run' };
}

/** The default kernel is meant also where it is named. */
export function kernelOf(name: string | null | undefined): string | null {
  return name && name !== defaultKernel ? name : null;
}

/** A kernel that is not there is told as the field that names it here. */
export async function namingKernel<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof CoreError) || error.code !== 'kernel_unknown') throw error;
    throw new InvalidInput([{ location: 'body.kernel_name', message: error.message, type: 'enum' }]);
  }
}

export function kernelName({ record }: CodeSession): string {
  return record.kernel ?? defaultKernel;
}
