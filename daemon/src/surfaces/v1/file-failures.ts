/** Renders a file system failure as 1.x does: in `data`, with status 200, unless the route sends bytes. */
import { z } from 'zod';
import { json, success } from '../../http/route/envelope.ts';
import { fileFields, wordsOf } from '../../http/route/refusal.ts';
import { routesFor } from '../../http/route/route.ts';
import { CoreError, type ErrorCode } from '../../kit/errors.ts';
import { FileFailure } from '../../kit/file-failure.ts';
import type { V1Deps } from './app.ts';
import { naming, refusalOfV1 } from './refusal.ts';
import { namedObject } from '../../operations/inputs.ts';

/** The switch: true answers 200 with `success` false, as 1.x does, and false with the codes of HTTP, as v2 does. */
const isReportedAsHandled: boolean = true;

export const FileOperationError = namedObject('FileOperationError', {
  path: z.string(),
  operation: z.string(),
  message: z.string(),
  error_type: z.string(),
  retryable: z.boolean(),
  errno: z.int().nullable(),
  errno_name: z.string().nullable(),
  exception_type: z.string().nullable(),
});

/** The data of a JSON route: what it is asked for, or why not. */
export function orFailure<S extends z.ZodType>(result: S): z.ZodUnion<[S, typeof FileOperationError]> {
  return z.union([result, FileOperationError]);
}

/** The same for find, glob and grep: a failure holds the empty list too, because 1.x clients read the list unasked. */
export function orEmptyFailure<S extends z.ZodType>(result: S, list: 'files' | 'matches') {
  const empty = z.array(z.unknown()).length(0);
  return z.union([
    result,
    FileOperationError.extend({ [list]: empty }).meta({ id: list === 'files' ? 'FileSearchError' : 'FileGrepError' }),
  ]);
}

/** Errors that the system may report for a path that is read or written. */
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
export const jsonCodes: readonly ErrorCode[] = isReportedAsHandled ? ['bad_argument', 'unavailable'] : fileCodes;

/** The editor answers what it refuses itself with 400. */
export const editorCodes: readonly ErrorCode[] = [
  ...new Set<ErrorCode>([...jsonCodes, 'file_bad_request', 'file_invalid_path']),
];

/** The `route` function of the file routes, which report a failure of the file system as 1.x reports it. */
export const route = routesFor<V1Deps>({
  refuse(error, { path, raw }) {
    if (!(error instanceof FileFailure)) return refusalOfV1(error, { path });
    const verb = verbOf(path);
    const refusal = failureOfV1(error, verb);
    if (raw || !isReportedAsHandled || (verb === editor && isEditRefusal(error))) return refusal;
    return json(success(refusal.facts, { message: refusal.message, hint: refusal.hint, isFailure: true }), 200);
  },
});

/** `read` of `/v1/file/read`. */
function verbOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

const editor = 'str_replace_editor';

/** What the editor refuses, not the file system: public callers of 1.x take an answer with status 200 as an edit. */
function isEditRefusal({ errnoName, code }: FileFailure): boolean {
  return errnoName === 'EINVAL' && code !== 'file_invalid_target';
}

/** Empty lists beside the error: clients of 1.x read these without looking at `success`. */
const emptyLists: Readonly<Record<string, object>> = {
  find: { files: [] },
  glob: { files: [] },
  grep: { matches: [] },
};

/** The verb phrase after `Failed to`. */
const verbPhrases: Readonly<Record<string, string>> = {
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
  const worded = wordsOf(error, naming);
  const { errno, path, error_type: errorType, ...facts } = fileFields(error, worded.message);
  const what = error.systemWords === null ? worded.message : `[Errno ${errno}] ${error.systemWords}: '${path}'`;
  // What the editor says by itself is whole: it stands there as its model reads it.
  const isWhole = verb === editor && error.systemWords === null;
  const message = isWhole ? what : `Failed to ${verbPhrases[verb] ?? verb}: ${what}`;
  return new CoreError(error.code, message, {
    hint: worded.hint,
    facts: {
      ...emptyLists[verb],
      ...facts,
      // A header of the answer names the size of the file.
      ...(error.code === 'range_not_satisfiable' && error.facts),
      path,
      operation: verb,
      message,
      error_type: errorTypes[errorType] ?? errorType,
      errno,
    },
  });
}
