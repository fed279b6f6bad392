/**
 * How the 1.x file routes tell a failure of the file system: in `data`, in the words of 1.x, and by one switch with
 * status 200. What sends bytes answers with the codes of HTTP.
 */
import { z } from 'zod';
import { success } from '../../http/envelope.ts';
import type { Route } from '../../http/route.ts';
import { CoreError, type ErrorCode } from '../../kit/errors.ts';
import { FileFailure } from '../../kit/file-failure.ts';
import type { V1Deps } from './app.ts';
import { hintOfV1 } from './wording.ts';

/** The switch: true answers 200 with `success` false, as 1.x does, and false with the codes of HTTP, as v2 does. */
const isToldAsHandled: boolean = true;

export const FileOperationError = z
  .object({
    path: z.string(),
    operation: z.string(),
    message: z.string(),
    error_type: z.string(),
    retryable: z.boolean(),
    errno: z.number().int().nullable(),
    errno_name: z.string().nullable(),
    exception_type: z.string().nullable(),
  })
  .meta({ id: 'FileOperationError' });

/** The data of a JSON route: what it is asked for, or why not. */
export function orFailure<S extends z.ZodType>(result: S): z.ZodUnion<[S, typeof FileOperationError]> {
  return z.union([result, FileOperationError]);
}

/** What the system may say of a place where something is to be read or written. */
export const placeCodes: readonly ErrorCode[] = [
  'file_not_found',
  'file_permission_denied',
  'file_exists',
  'file_invalid_target',
  'file_invalid_path',
  'file_bad_request',
  'file_read_only',
  'file_io_error',
];

/** What any file operation may come to, as codes of HTTP. */
export const fileCodes: readonly ErrorCode[] = [
  'bad_argument',
  'unavailable',
  ...placeCodes,
  'file_not_text',
  'file_too_large',
  'no_space_left',
];

/** What a JSON route answers with a code of HTTP. */
export const jsonCodes: readonly ErrorCode[] = isToldAsHandled ? ['bad_argument', 'unavailable'] : fileCodes;

/** The same routes, with the failures of files told as 1.x tells them. */
export function tellFailures(routes: readonly Route<V1Deps>[]): readonly Route<V1Deps>[] {
  return routes.map((route) => ({
    ...route,
    async respond(...given: Parameters<Route<V1Deps>['respond']>) {
      try {
        return await route.respond(...given);
      } catch (error) {
        if (!(error instanceof FileFailure)) throw error;
        const told = failureOfV1(error, verbOf(route));
        if (route.raw || !isToldAsHandled) throw told;
        return success(told.facts, { message: told.message, hint: told.hint, isFailure: true });
      }
    },
  }));
}

/** `read` of `/v1/file/read`. */
function verbOf({ path }: Route<V1Deps>): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** What each verb does, as it stands behind `Failed to`. */
const deeds: Readonly<Record<string, string>> = {
  read: 'read file',
  write: 'write file',
  replace: 'replace in file',
  search: 'search in file',
  find: 'find files',
  glob: 'glob files',
  grep: 'grep files',
  list: 'list path',
  stat: 'stat path',
  mkdir: 'create directory',
  copy: 'copy path',
  move: 'move path',
  delete: 'delete path',
  upload: 'upload file',
  download: 'download file',
  str_replace_editor: 'edit file',
};

/** Kinds of failure that 1.x has no word for. */
const errorTypes: Readonly<Record<string, string>> = { bad_request: 'invalid_target', too_large: 'io_error' };

function failureOfV1(error: FileFailure, verb: string): CoreError {
  const { errno, path, error_type: errorType, ...facts } = error.facts as z.output<typeof FileOperationError>;
  const what = error.systemWords === null ? error.message : `[Errno ${errno}] ${error.systemWords}: '${path}'`;
  // What the editor says by itself is whole: it stands there as its model reads it.
  const isWhole = verb === 'str_replace_editor' && error.systemWords === null;
  const message = isWhole ? what : `Failed to ${deeds[verb] ?? verb}: ${what}`;
  return new CoreError(error.code, message, {
    ...(error.hint === null ? {} : { hint: hintOfV1(error.hint) }),
    facts: { ...facts, path, operation: verb, message, error_type: errorTypes[errorType] ?? errorType, errno },
  });
}
