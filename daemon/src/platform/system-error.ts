/** What the system says against a call that was made without the runtime, as the runtime itself would throw it. */
import { constants } from 'node:os';

/** `errno` is the positive number of errno(3). */
export function systemError(call: string, errno: number): NodeJS.ErrnoException {
  const code = Object.entries(constants.errno).find(([, number]) => number === errno)?.[0] ?? 'EIO';
  return Object.assign(new Error(`${code}: ${call}`), { code, errno: -errno, syscall: call });
}
