/** Looks up programs on a PATH at the moment of use. */
import { accessSync, constants, lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** The write bits of group and others. */
const othersWrite = 0o022;

/** The first executable file of that name; null when none exists. */
export function findProgram(name: string, path: string): string | null {
  for (const directory of path.split(':').filter((entry) => entry.startsWith('/'))) {
    const candidate = `${directory}/${name}`;
    if (isExecutableFile(candidate)) return candidate;
  }
  return null;
}

/** A regular file that the daemon's account may run. */
export function isExecutableFile(path: string): boolean {
  try {
    // Most directories of a PATH do not contain the program, and an exception is expensive.
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // The daemon's account may not run the file, or not access it at all.
  }
}

/**
 * Finds a program that is safe to run with the privileges of the daemon.
 * Returns the first such program of that name on PATH that only root or the daemon's own account can have installed or
 * can change. The returned path contains no symbolic links. Null when none exists.
 */
export function findTrustedProgram(name: string, path: string): string | null {
  for (const directory of path.split(':').filter((entry) => entry.startsWith('/'))) {
    const candidate = `${directory}/${name}`;
    if (!isExecutableFile(candidate)) continue;
    // The directory of a symbolic link counts too: its owner can point the link elsewhere.
    const real = realPathOf(candidate);
    if (real !== null && isOwnersAlone(real) && isOwnersAlone(realPathOf(directory) ?? '')) return real;
  }
  return null;
}

function realPathOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null; // The file has been removed meanwhile.
  }
}

/** Whether only root and the daemon can write to the path and all its parents. The path has no links. */
function isOwnersAlone(path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    const status = lstatSync(at, { throwIfNoEntry: false });
    const isOurs = status?.uid === 0 || status?.uid === process.getuid?.();
    if (!status || !isOurs || (status.mode & othersWrite) !== 0) return false;
    if (at === '/') return true;
  }
}
