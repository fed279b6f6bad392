/** Builds the error of a direct system call in the form that the runtime itself throws. */
import { constants } from 'node:os';

/** `errno` is the positive number of errno(3). */
export function systemError(call: string, errno: number): NodeJS.ErrnoException {
  const code = Object.entries(constants.errno).find(([, number]) => number === errno)?.[0] ?? 'EIO';
  return Object.assign(new Error(`${code}: ${call}`), { code, errno: -errno, syscall: call });
}
