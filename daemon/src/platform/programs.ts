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
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false; // It is not there, or not ours to run or even to look at.
  }
}
