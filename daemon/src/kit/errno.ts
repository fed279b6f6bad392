/** Reads the errno name from an error of the system, and turns an expected one into null. */
import { constants } from 'node:os';

/** For example `ENOENT`; null for any other thrown value. */
export function errnoOf(error: unknown): string | null {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return code !== undefined && Object.hasOwn(constants.errno, code) ? code : null;
}

export function isOutOfDescriptors(errnoName: string | null): boolean {
  return errnoName === 'EMFILE' || errnoName === 'ENFILE';
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
