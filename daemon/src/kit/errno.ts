/** Names errors of the system, as errno and in words, and turns an expected one into null. */
import { constants } from 'node:os';

/** For example `ENOENT`; null for any other thrown value. */
export function errnoOf(error: unknown): string | null {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return code !== undefined && Object.hasOwn(constants.errno, code) ? code : null;
}

export function isOutOfDescriptors(errnoName: string | null): boolean {
  return errnoName === 'EMFILE' || errnoName === 'ENFILE';
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

/** Null when the call finds no free descriptor. */
export function nullWithoutDescriptor<T>(call: () => T): T | null {
  try {
    return call();
  } catch (error) {
    if (isOutOfDescriptors(errnoOf(error))) return null;
    throw error;
  }
}

/** Null when the work fails with this error of the system. */
export async function nullOn<T>(errnoName: string, work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (errnoOf(error) === errnoName) return null;
    throw error;
  }
}

/** Like `nullOn`, for a call that blocks. */
export function nullOnNow<T>(errnoName: string, call: () => T): T | null {
  try {
    return call();
  } catch (error) {
    if (errnoOf(error) === errnoName) return null;
    throw error;
  }
}
