/** What every surface of watchers accepts and refuses in the same way. */
import type { z } from 'zod';
import { globProblem } from '../../core/watch/path-pattern.ts';
import type { ErrorCode } from '../../kit/errors.ts';

export const placeErrors: readonly ErrorCode[] = [
  'bad_argument',
  'capacity_reached',
  'file_not_found',
  'file_permission_denied',
  'file_invalid_path',
  'file_bad_request',
  'file_io_error',
  'unavailable',
];

export function checkGlob(glob: string, context: z.RefinementCtx): void {
  const problem = globProblem(glob);
  if (problem !== null) context.addIssue({ code: 'custom', message: `is not a glob: ${problem}` });
}
