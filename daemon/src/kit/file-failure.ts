/** Failures of file operations, with the facts that each surface reports. */
import { constants } from 'node:os';
import { errnoOf, isOutOfDescriptors, wordsOfErrno } from './errno.ts';
import { CoreError, descriptorHint, firstFailure, type ErrorCode, type ErrorDetails, type NextStep } from './errors.ts';
import { showPath } from './text/path-text.ts';

/** The operation name of the route (contract, Errors). */
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
  readonly hint?: string;
  readonly next?: NextStep;
}

const kinds = {
  notFound: { code: 'file_not_found', next: { operation: 'files.list' } },
  permissionDenied: {
    code: 'file_permission_denied',
    hint: 'The daemon does not have the permission.',
    next: { operation: 'files.stat' },
  },
  alreadyExists: { code: 'file_exists', hint: 'Choose another path, or remove the existing entry.' },
  invalidTarget: { code: 'file_invalid_target', next: { operation: 'files.stat' } },
  invalidPath: { code: 'file_invalid_path', hint: 'Pass another path.', next: { operation: 'files.stat' } },
  badRequest: { code: 'file_bad_request', next: { operation: 'files.stat' } },
  readOnlyFilesystem: {
    code: 'file_read_only',
    hint: 'Write to another file system.',
    next: { operation: 'sandbox.read' },
  },
  noSpaceLeft: { code: 'no_space_left', hint: 'Free some space and try again. The earlier content is intact.' },
  decodeError: { code: 'file_not_text', next: { operation: 'files.readBytes' } },
  tooLarge: { code: 'file_too_large', next: { operation: 'files.download' } },
  ioError: { code: 'file_io_error', hint: 'The system could not do this. Try again if retryable is true.' },
} as const satisfies Readonly<Record<string, Kind>>;

/** An `ioError` on the wire, but nothing is wrong with the file or its disk. */
const outOfDescriptors: Kind = {
  code: 'unavailable',
  hint: descriptorHint,
};

export type FileErrorKind = keyof typeof kinds;

const kindOfErrno: Readonly<Record<string, FileErrorKind>> = {
  ENOENT: 'notFound',
  EACCES: 'permissionDenied',
  EPERM: 'permissionDenied',
  EEXIST: 'alreadyExists',
  EISDIR: 'invalidTarget',
  ENOTEMPTY: 'invalidTarget',
  ENXIO: 'invalidTarget',
  ENODEV: 'invalidTarget',
  ENOTDIR: 'invalidPath',
  ELOOP: 'invalidPath',
  ENAMETOOLONG: 'invalidPath',
  EINVAL: 'badRequest',
  EROFS: 'readOnlyFilesystem',
  ENOSPC: 'noSpaceLeft',
  EDQUOT: 'noSpaceLeft',
  EILSEQ: 'decodeError',
  EFBIG: 'tooLarge',
};

const retryableErrnos = new Set(['EAGAIN', 'EBUSY', 'EINTR', 'EMFILE', 'ENFILE', 'ENOMEM', 'ETXTBSY']);

/** `hint`, `advice` and `next` replace the hint and the next call of the kind. */
export interface FileFailureFacts extends ErrorDetails {
  readonly operation: FileOperation;
  /** The absolute path of the file. */
  readonly path: string;
  /** The symbolic name, such as `ENOENT`. */
  readonly errnoName: string;
  /** Set when the errno alone does not determine the kind of failure. */
  readonly kind?: FileErrorKind;
  /** Set when the kind of failure does not determine the error code. */
  readonly code?: ErrorCode;
  /** A message for cases where the text of the system says too little. */
  readonly message?: string;
  /** An error with more detail for programs than the message has. */
  readonly cause?: Error;
}

export type FileFailureDetails = Omit<FileFailureFacts, 'operation' | 'path' | 'errnoName'>;

/** A failure of the file system, or a file of the wrong kind. */
export class FileFailure extends CoreError {
  readonly operation: FileOperation;
  /** The path in the form that clients see. */
  readonly path: string;
  readonly errno: number;
  readonly errnoName: string;
  readonly kind: FileErrorKind;
  /** The strerror(3) text when it is the whole message; null when the message says more. */
  readonly systemWords: string | null;

  static of(operation: FileOperation, path: string, errnoName: string, details: FileFailureDetails): FileFailure {
    return new FileFailure({ operation, path, errnoName, ...details });
  }

  constructor(given: FileFailureFacts) {
    const { operation, path, errnoName, message, hint = null, advice = null, next = null, facts = null } = given;
    const kind = given.kind ?? kindOfErrno[errnoName] ?? 'ioError';
    const shown = showPath(path);
    const systemWords = wordsOfErrno(errnoName);
    const { code, ...ofKind }: Kind = isOutOfDescriptors(errnoName) ? outOfDescriptors : kinds[kind];
    super(given.code ?? code, message ?? `${shown}: ${systemWords}`, {
      ...((hint ?? advice ?? next) ? { hint, advice, next } : ofKind),
      ...(given.argument && { argument: given.argument }),
      facts,
      isRetryable: retryableErrnos.has(errnoName),
    });
    this.operation = operation;
    this.path = shown;
    this.errno = (constants.errno as Readonly<Record<string, number>>)[errnoName] ?? 0;
    this.errnoName = errnoName;
    this.kind = kind;
    this.systemWords = message === undefined ? systemWords : null;
    if (given.cause) this.cause = given.cause;
  }
}

/** Runs `work`, and turns a system error into a `FileFailure` with the operation and the path. */
export async function asFileOperation<T>(
  operation: FileOperation,
  path: string,
  work: () => T | Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fileFailureOf(firstFailure(error), operation, path);
  }
}

/** Turns a system error into a `FileFailure` of this operation; returns any other error unchanged. */
export function fileFailureOf(error: unknown, operation: FileOperation, path: string): unknown {
  const errnoName = errnoOf(error);
  if (errnoName === null) return error;
  const { path: inner } = error as { readonly path?: unknown };
  const isKnown = typeof inner === 'string' && inner.startsWith('/') && !isOwnPath(inner);
  return new FileFailure({ operation, path: isKnown ? inner : path, errnoName });
}

/** Whether a path goes through a descriptor or a staging file, and so means nothing outside the daemon. */
function isOwnPath(path: string): boolean {
  return path.startsWith('/proc/self/fd/') || /\/\.svc-write-[0-9a-f]{16}\.part(?:\/|$)/.test(path);
}
