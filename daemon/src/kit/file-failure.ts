/** Failures of file operations, with the eight fields that the specification gives each of them. */
import { constants } from 'node:os';
import { CoreError, type ErrorCode } from './errors.ts';
import { showPath } from './path-text.ts';

/** The word of the route (contract, Errors). */
export type FileOperation =
  | 'read'
  | 'write'
  | 'edit'
  | 'stat'
  | 'list'
  | 'search'
  | 'grep'
  | 'mkdir'
  | 'copy'
  | 'move'
  | 'delete'
  | 'upload'
  | 'download'
  | 'tree'
  | 'watch';

interface Kind {
  readonly code: ErrorCode;
  readonly errorType: string;
  /** The class that the Python server of 1.x raises. */
  readonly exceptionType: string;
  readonly hint: string;
}

const kinds = {
  not_found: {
    code: 'file_not_found',
    errorType: 'not_found',
    exceptionType: 'FileNotFoundError',
    hint: 'GET /v2/fs/list shows what a directory holds.',
  },
  permission_denied: {
    code: 'file_permission_denied',
    errorType: 'permission_denied',
    exceptionType: 'PermissionError',
    hint: 'The daemon itself may not do this; GET /v2/fs/stat tells owner and mode.',
  },
  already_exists: {
    code: 'file_exists',
    errorType: 'already_exists',
    exceptionType: 'FileExistsError',
    hint: 'Choose another path, or remove what is there.',
  },
  invalid_target: {
    code: 'file_invalid_target',
    errorType: 'invalid_target',
    exceptionType: 'IsADirectoryError',
    hint: 'GET /v2/fs/stat tells what is there.',
  },
  invalid_path: {
    code: 'file_invalid_path',
    errorType: 'invalid_path',
    exceptionType: 'NotADirectoryError',
    hint: 'Give another path; GET /v2/fs/stat tells what is there.',
  },
  bad_request: {
    code: 'file_bad_request',
    errorType: 'bad_request',
    exceptionType: 'OSError',
    hint: 'GET /v2/fs/stat tells what is there.',
  },
  read_only_filesystem: {
    code: 'file_read_only',
    errorType: 'read_only_filesystem',
    exceptionType: 'OSError',
    hint: 'Write to another file system; GET /v2/sandbox names the workspace.',
  },
  no_space_left: {
    code: 'no_space_left',
    errorType: 'no_space_left',
    exceptionType: 'OSError',
    hint: 'Free some space and send it again; what was there before is still whole.',
  },
  decode_error: {
    code: 'file_not_text',
    errorType: 'decode_error',
    exceptionType: 'UnicodeDecodeError',
    hint: 'GET /v2/fs/download gives the bytes as they are.',
  },
  too_large: {
    code: 'file_too_large',
    errorType: 'too_large',
    exceptionType: 'OSError',
    hint: 'GET /v2/fs/download streams a file of any size.',
  },
  io_error: {
    code: 'file_io_error',
    errorType: 'io_error',
    exceptionType: 'OSError',
    hint: 'The system could not do this; where retryable is true, try it again.',
  },
} as const satisfies Readonly<Record<string, Kind>>;

export type FileErrorType = keyof typeof kinds;

const typeOfErrno: Readonly<Record<string, FileErrorType>> = {
  ENOENT: 'not_found',
  EACCES: 'permission_denied',
  EPERM: 'permission_denied',
  EEXIST: 'already_exists',
  EISDIR: 'invalid_target',
  ENOTEMPTY: 'invalid_target',
  ENXIO: 'invalid_target',
  ENODEV: 'invalid_target',
  ENOTDIR: 'invalid_path',
  ELOOP: 'invalid_path',
  ENAMETOOLONG: 'invalid_path',
  EINVAL: 'bad_request',
  EROFS: 'read_only_filesystem',
  ENOSPC: 'no_space_left',
  EDQUOT: 'no_space_left',
  EILSEQ: 'decode_error',
  EFBIG: 'too_large',
};

const retryableErrnos = new Set(['EAGAIN', 'EBUSY', 'EINTR', 'EMFILE', 'ENFILE', 'ENOMEM', 'ETXTBSY']);

/** strerror(3) in the words of glibc, for the errnos that have a type of their own. */
const words: Readonly<Record<string, string>> = {
  ENOENT: 'No such file or directory',
  EACCES: 'Permission denied',
  EPERM: 'Operation not permitted',
  EEXIST: 'File exists',
  EISDIR: 'Is a directory',
  ENOTEMPTY: 'Directory not empty',
  ENXIO: 'No such device or address',
  ENODEV: 'No such device',
  ENOTDIR: 'Not a directory',
  ELOOP: 'Too many levels of symbolic links',
  ENAMETOOLONG: 'File name too long',
  EINVAL: 'Invalid argument',
  EROFS: 'Read-only file system',
  ENOSPC: 'No space left on device',
  EDQUOT: 'Disk quota exceeded',
  EILSEQ: 'Invalid or incomplete multibyte or wide character',
  EFBIG: 'File too large',
  EBUSY: 'Device or resource busy',
  ETXTBSY: 'Text file busy',
  EMFILE: 'Too many open files',
  ENFILE: 'Too many open files in system',
  EIO: 'Input/output error',
};

export interface FileFailureFacts {
  readonly operation: FileOperation;
  /** The path involved, absolute. */
  readonly path: string;
  /** `ENOENT`. */
  readonly errnoName: string;
  /** When the errno alone does not say what kind of failure it is. */
  readonly errorType?: FileErrorType;
  /** When the kind of failure does not say how it is answered. */
  readonly code?: ErrorCode;
  /** Facts beside the fields of the specification. */
  readonly more?: Readonly<Record<string, unknown>>;
  /** What is wrong, where the words of the system say too little. */
  readonly message?: string;
  readonly hint?: string;
  /** What says more to a program than the message does. */
  readonly cause?: Error;
}

/** What the file system, or the shape of a file, does not allow. Its facts are the fields of the specification. */
export class FileFailure extends CoreError {
  readonly operation: FileOperation;
  /** As clients see it. */
  readonly path: string;
  readonly errnoName: string;
  /** strerror(3), where that says it all; null where the message says more. */
  readonly systemWords: string | null;

  constructor(given: FileFailureFacts) {
    const { operation, path, errnoName, errorType, message, hint } = given;
    const type = errorType ?? typeOfErrno[errnoName] ?? 'io_error';
    const kind: Kind = kinds[type];
    const shown = showPath(path);
    const systemWords = words[errnoName] ?? errnoName;
    const text = message ?? `${shown}: ${systemWords}`;
    super(given.code ?? kind.code, text, {
      hint: hint ?? kind.hint,
      facts: {
        errno: (constants.errno as Readonly<Record<string, number>>)[errnoName] ?? 0,
        errno_name: errnoName,
        error_type: kind.errorType,
        exception_type: errnoName === 'ENOTEMPTY' ? 'OSError' : kind.exceptionType,
        message: text,
        operation,
        path: shown,
        retryable: retryableErrnos.has(errnoName),
        ...given.more,
      },
    });
    this.operation = operation;
    this.path = shown;
    this.errnoName = errnoName;
    this.systemWords = message === undefined ? systemWords : null;
    if (given.cause) this.cause = given.cause;
  }
}

/** The errno of a failure of the system (`ENOENT`); null for anything else that was thrown. */
export function errnoOf(error: unknown): string | null {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return code !== undefined && Object.hasOwn(constants.errno, code) ? code : null;
}

/** Does `work`; what the system refuses becomes a `FileFailure` that names the operation and the path. */
export async function asFileOperation<T>(
  operation: FileOperation,
  path: string,
  work: () => T | Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fileFailureOf(error, operation, path);
  }
}

/** A failure of the system as one of this operation; anything else as it is. */
export function fileFailureOf(error: unknown, operation: FileOperation, path: string): unknown {
  const errnoName = errnoOf(error);
  if (errnoName === null) return error;
  const { path: inner } = error as { readonly path?: unknown };
  // A path through a descriptor means nothing outside the daemon.
  const told = typeof inner === 'string' && inner.startsWith('/') && !inner.startsWith('/proc/self/fd/') ? inner : path;
  return new FileFailure({ operation, path: told, errnoName });
}
