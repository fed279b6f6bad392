/** Turns an error of core into what a client of one surface reads: a hint with its routes, and facts with wire names. */
import { CoreError, type NextCalls, type NextStep } from '../../kit/errors.ts';
import { FileFailure } from '../../kit/file-failure.ts';
import { snake, snakeKeys } from './snake-keys.ts';

/** How a surface names what core leaves open. */
export interface Naming {
  readonly calls: NextCalls;
  /** Names of arguments that begin a message. */
  readonly argument: Readonly<Record<NonNullable<CoreError['argument']>, string>>;
}

/** The same error with the names of a surface. Naming an error again changes nothing. */
export function named(error: CoreError, { calls, argument }: Naming): CoreError {
  const message = error.argument ? `${argument[error.argument]} ${error.message}` : error.message;
  const facts = error instanceof FileFailure ? fileFields(error) : error.facts && snakeKeys(error.facts);
  return new CoreError(error.code, message, {
    hint: hintOf(error, calls),
    facts,
  });
}

export function hintOf({ hint, next }: Pick<CoreError, 'hint' | 'next'>, calls: NextCalls): string | null {
  return hintWith(hint, next ? [next] : [], calls);
}

export function hintWith(hint: string | null, next: readonly NextStep[], calls: NextCalls): string | null {
  const sentences = [hint, ...next.map((step) => sentenceOf(step, calls))].filter((sentence) => sentence !== null);
  return sentences.length === 0 ? null : sentences.join(' ');
}

function sentenceOf<O extends NextStep['operation']>(step: NextStep<O>, calls: NextCalls): string {
  const call: NextCalls[O] = calls[step.operation];
  return typeof call === 'string' ? call : call(step);
}

/** The classes of OSError that Python 3 raises, as the 1.x server did. */
const exceptionTypes: Readonly<Record<string, string>> = {
  ENOENT: 'FileNotFoundError',
  EACCES: 'PermissionError',
  EPERM: 'PermissionError',
  EEXIST: 'FileExistsError',
  EISDIR: 'IsADirectoryError',
  ENOTDIR: 'NotADirectoryError',
  EINTR: 'InterruptedError',
  EAGAIN: 'BlockingIOError',
  EWOULDBLOCK: 'BlockingIOError',
  EALREADY: 'BlockingIOError',
  EINPROGRESS: 'BlockingIOError',
  EPIPE: 'BrokenPipeError',
  ESRCH: 'ProcessLookupError',
  ECHILD: 'ChildProcessError',
  ETIMEDOUT: 'TimeoutError',
  ECONNABORTED: 'ConnectionAbortedError',
  ECONNREFUSED: 'ConnectionRefusedError',
  ECONNRESET: 'ConnectionResetError',
};

function exceptionTypeOf({ kind, errnoName }: FileFailure): string {
  return kind === 'decodeError' ? 'UnicodeDecodeError' : (exceptionTypes[errnoName] ?? 'OSError');
}

/** The eight fields that the specification defines for a failed file operation, and the facts beside them. */
export function fileFields(failure: FileFailure) {
  const { operation, path, errno, errnoName, kind, isRetryable, message, facts } = failure;
  return {
    errno,
    errno_name: errnoName,
    error_type: snake(kind),
    exception_type: exceptionTypeOf(failure),
    message,
    operation,
    path,
    retryable: isRetryable,
    ...(facts && snakeKeys(facts)),
  };
}
