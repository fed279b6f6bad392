/** Descriptors that this daemon does not use, so that a daemon which is started again at the limit has enough. */
import { closeSync, openSync } from 'node:fs';
import { nullWithoutDescriptor } from '../../kit/errno.ts';

/** To find every command again, a daemon also reads files, one after another, and opens what a used daemon has open. */
const reserved = 8;
/** At the limit, this daemon must be able to serve the clients that end commands. */
const left = 4;

/** Throws when this process has no descriptor left. It opens a directory that each root has, unlike /dev/null. */
export const takeDescriptor = (): number => openSync('/proc', 'r');

/** Holds them for as long as the process lives; fewer where the limit does not allow more. */
export function holdReserve(): void {
  const opened: number[] = [];
  while (opened.length < reserved + left) {
    const descriptor = nullWithoutDescriptor(takeDescriptor);
    if (descriptor === null) break;
    opened.push(descriptor);
  }
  for (const descriptor of opened.slice(-left)) closeSync(descriptor);
}
