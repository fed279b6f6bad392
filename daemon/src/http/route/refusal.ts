/** Turns an error of core into what a client of one surface reads: a hint with its routes, and facts with wire names. */
import { wordedAdvice, type ArgumentNames } from '../../kit/advice.ts';
import { CoreError, type NextCalls, type NextStep } from '../../kit/errors.ts';
import { FileFailure } from '../../kit/file-failure.ts';
import { snake, snakeKeys } from '../../kit/text/snake-keys.ts';

/** How a surface names what core leaves open. */
export interface Naming {
  readonly calls: NextCalls;
  readonly arguments: ArgumentNames;
}

/** The same error with the names of a surface. Naming an error again changes nothing. */
export function named(error: CoreError, naming: Naming): CoreError {
  const { message, hint } = wordsOf(error, naming);
  const own = error.facts && snakeKeys(error.facts);
  const facts = error instanceof FileFailure ? { ...fileFields(error, message), ...own } : own;
  return new CoreError(error.code, message, { hint, facts, isRetryable: error.isRetryable });
}

/** What a surface says of an error: the only place that words one. */
export function wordsOf(error: CoreError, naming: Naming): { readonly message: string; readonly hint: string | null } {
  const argument = error.argument && (naming.arguments[error.argument] ?? 'an argument');
  const advice = error.advice && wordedAdvice(error.advice, naming.arguments);
  const own = [error.hint, advice].filter((sentence) => sentence !== null);
  return {
    message: argument === null ? error.message : `${argument} ${error.message}`,
    hint: hintWith(own.length === 0 ? null : own.join(' '), error.next ? [error.next] : [], naming.calls),
  };
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

/** The eight fields that the specification defines for a failed file operation. */
export function fileFields(failure: FileFailure, message: string) {
  const { operation, path, errno, errnoName, kind, isRetryable } = failure;
  return {
    errno,
    errno_name: errnoName,
    error_type: snake(kind),
    exception_type: exceptionTypeOf(failure),
    message,
    operation,
    path,
    retryable: isRetryable,
  };
}
