/** Looks programs up in a PATH at the moment they are wanted. */
import { accessSync, constants, statSync } from 'node:fs';

/** The first executable file of that name; null when there is none. */
export function findProgram(name: string, path: string): string | null {
  for (const directory of path.split(':').filter((entry) => entry.startsWith('/'))) {
    const candidate = `${directory}/${name}`;
    if (isExecutableFile(candidate)) return candidate;
  }
  return null;
}

function isExecutableFile(path: string): boolean {
  try {
    // Most directories of a PATH do not have it, and an exception is dear.
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // It is not ours to run, or even to look at.
  }
}
