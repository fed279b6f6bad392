/** Runs code for the 1.x routes, and describes the result in one sentence. */
import { describeLoss, describeTimeout, errorAdvice, exitAdvice, lossAdvice } from '../../core/code/cells/advice.ts';
import type { Cell } from '../../core/code/cells/cell.ts';
import { defaultKernel } from '../../core/code/backends/kernels.ts';
import type { CodeSession } from '../../core/code/sessions/session.ts';
import type { CellSpec } from '../../core/code/sessions/requests.ts';
import { InvalidInput } from '../../http/route/envelope.ts';
import type { RequestContext } from '../../http/route/context.ts';
import { stoppingMessage } from '../../http/route/stopping.ts';
import { Deadline } from '../../kit/deadline.ts';
import { CoreError, type ErrorCode } from '../../kit/errors.ts';
import { isPath } from '../../kit/text/path-text.ts';
import type { V1Deps } from './app.ts';

/** In seconds. */
export const timeLimits = { default: 30, max: 300 } as const;

export const runErrors: readonly ErrorCode[] = [
  'bad_argument',
  'session_not_found',
  'session_busy',
  'capacity_reached',
  'unavailable',
  'no_space_left',
];

export interface RunBody {
  readonly code: string;
  readonly timeout?: number | null | undefined;
  readonly cwd?: string | null | undefined;
}

/** The cell options that all routes which run code share. */
export function cellSpec({ code, timeout, cwd }: RunBody) {
  const timeoutMs = (timeout ?? timeLimits.default) * 1000;
  return { code, timeoutMs, cwd: directoryOf(cwd), env: {}, user: null, entersDirectory: true };
}

/** The empty text counts as no directory. Throws `bad_argument` for a text that cannot be a path. */
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
  const ran = await deps.code.execute(spec, deps.closing);
  context.note.account = ran.session.record.account;
  context.about(ran.session.id);
  using deadline = new Deadline(null, context.signal, deps.closing);
  await ran.cell.finished(deadline.signal);
  if (ran.cell.failure) throw ran.cell.failure;
  return ran;
}

/** An error in the code is not a failure of the request. A missing working directory is. */
export function describeRun({ cell, session }: Ran): { isFailure?: boolean; message: string; hint?: string | null } {
  const { cwdError, deathBefore, end, record } = cell;
  if (cwdError !== null) {
    const message = `cwd ${record.cwd}: ${cwdError}`;
    return { isFailure: true, message, hint: 'Create it first, or give another cwd.' };
  }
  if (end === null) return { message: stoppingMessage('code') };
  if (end.status === 'timeout')
    return { message: `The code ${describeTimeout(cell)} after ${record.timeoutMs / 1000} s` };
  if (end.death?.cause === 'died') return { message: 'The interpreter has died', hint: 'Its state is gone.' };
  const message = end.status === 'error' ? 'The code ended with an error' : 'The code has run';
  if (end.death) return { message, hint: exitAdvice };
  if (deathBefore === null) return { message, hint: errorAdvice(cell) };
  return {
    message: `${message} in a new interpreter: ${describeLoss(deathBefore)}`,
    hint: lossAdvice(deathBefore, session.record.backend),
  };
}

/** A client may name the default kernel explicitly. */
function kernelOf(name: string | null | undefined): string | null {
  return name && name !== defaultKernel ? name : null;
}

/** What a 1.x image had beside `python3`. */
const formerKernel = /^python3\.1[0-2]$/;

/** A kernel of a 1.x image that is not installed here is replaced by the default kernel, and the answer says so. */
export async function chooseKernel({ codeInfo }: V1Deps, name: string | null | undefined): Promise<ChosenKernel> {
  if (!name || !formerKernel.test(name)) return { kernel: kernelOf(name), hint: null };
  const { names } = await codeInfo.kernels();
  if (names.includes(name)) return { kernel: name, hint: null };
  const hint = `The kernel ${name} is not installed; ${defaultKernel} took its place. GET /v1/jupyter/info lists the kernels.`;
  return { kernel: null, hint };
}

interface ChosenKernel {
  readonly kernel: string | null;
  /** Says that another kernel took the place of the named one. */
  readonly hint: string | null;
}

/** Reports an unknown kernel under the field of this surface that names it. */
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
