/** Reads the errno name from an error of the system. */
import { constants } from 'node:os';

/** For example `ENOENT`; null for any other thrown value. */
export function errnoOf(error: unknown): string | null {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return code !== undefined && Object.hasOwn(constants.errno, code) ? code : null;
}
