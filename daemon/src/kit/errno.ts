/** Names errors of the system, as errno and in words, and turns expected errors into null. */
import { constants } from 'node:os';

/** For example `ENOENT`; null for any other thrown value. */
export function errnoOf(error: unknown): string | null {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return code !== undefined && Object.hasOwn(constants.errno, code) ? code : null;
}

const withoutDescriptor: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE']);

export function isOutOfDescriptors(errnoName: string | null): boolean {
  return withoutDescriptor.has(errnoName ?? '');
}

/** The strerror(3) texts of glibc, for the errnos of files. */
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

/** What the system says of an error, or the name itself where it is rare. */
export function wordsOfErrno(errnoName: string): string {
  return words[errnoName] ?? errnoName;
}

/** Errors by their code, which is an errno or one of core, or all errors of a class. */
type Expected = string | ReadonlySet<string> | (abstract new (...given: never[]) => Error);

/** Null when the work fails with an error that the caller expects. */
export async function nullOn<T>(expected: Expected, work: Promise<T>): Promise<T | null> {
  return await work.catch((error: unknown) => nullIfExpected(expected, error));
}

/** Like `nullOn`, for a call that blocks. */
export function nullOnNow<T>(expected: Expected, call: () => T): T | null {
  try {
    return call();
  } catch (error) {
    return nullIfExpected(expected, error);
  }
}

/** Null when the call finds no free descriptor. */
export function nullWithoutDescriptor<T>(call: () => T): T | null {
  return nullOnNow(withoutDescriptor, call);
}

function nullIfExpected(expected: Expected, error: unknown): null {
  const { code = '' } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  if (typeof expected === 'function' ? error instanceof expected : asSet(expected).has(code)) return null;
  throw error;
}

function asSet(codes: string | ReadonlySet<string>): ReadonlySet<string> {
  return typeof codes === 'string' ? new Set([codes]) : codes;
}
