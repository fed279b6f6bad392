/** A range of an open file, as a body that the runtime sends by itself. */
import { closeSync, openSync } from 'node:fs';
import { nullWithoutDescriptor } from '../../kit/errno.ts';

/**
 * Null when no descriptor is left: the runtime opens the file again when it starts to send, and answers for itself when
 * it cannot. The descriptor must stay open until then.
 */
export function fileSlice(descriptor: number, from: number, to: number): Blob | null {
  const path = `/proc/self/fd/${descriptor}`;
  return nullWithoutDescriptor(() => {
    closeSync(openSync(path, 'r'));
    return Bun.file(path).slice(from, to);
  });
}
