/** Looks programs up in a PATH at the moment they are wanted. */
import { accessSync, constants, lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** The bits of group and others. */
const othersWrite = 0o022;

/** The first executable file of that name; null when there is none. */
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
    // Most directories of a PATH do not have it, and an exception is dear.
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // It is not ours to run, or even to look at.
  }
}

/**
 * The first program of that name on PATH that nobody but root, or the daemon's own account, can have put there or can
 * change: it may run with the privileges of the daemon. Its path has no links in it. Null when there is none.
 */
export function findTrustedProgram(name: string, path: string): string | null {
  for (const directory of path.split(':').filter((entry) => entry.startsWith('/'))) {
    const candidate = `${directory}/${name}`;
    if (!isExecutableFile(candidate)) continue;
    // Also the way to a link: whoever can change that can lead elsewhere.
    const real = realPathOf(candidate);
    if (real !== null && isOwnersAlone(real) && isOwnersAlone(realPathOf(directory) ?? '')) return real;
  }
  return null;
}

function realPathOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null; // It has gone meanwhile.
  }
}

/** A path without links that belongs, with every directory above it, to root or to the daemon, and to nobody else. */
function isOwnersAlone(path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    const status = lstatSync(at, { throwIfNoEntry: false });
    const isOurs = status?.uid === 0 || status?.uid === process.getuid?.();
    if (!status || !isOurs || (status.mode & othersWrite) !== 0) return false;
    if (at === '/') return true;
  }
}
