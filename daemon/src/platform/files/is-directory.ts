/** Whether a path leads to a directory, as far as the daemon can see. */
import { statSync } from 'node:fs';

export function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false; // The daemon may not search a parent directory, or the path is not valid.
  }
}
