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

/** How long a place is remembered. A program that is installed in an earlier directory is found after this time. */
const rememberedMs = 1000;

/** Finds programs as `findProgram` does, and remembers where it found them: a long PATH costs a call per directory. */
export class FoundPrograms {
  readonly #found = new Map<string, { readonly program: string; readonly untilMs: number }>();

  readonly find = (name: string, path: string): string | null => {
    const key = `${name}:${path}`;
    const known = this.#found.get(key);
    if (known && performance.now() < known.untilMs && isAllowed(known.program)) return known.program;
    this.#found.delete(key);
    const program = findProgram(name, path);
    if (program !== null) this.#found.set(key, { program, untilMs: performance.now() + rememberedMs });
    return program;
  };
}

/** A regular file that the daemon's account may run. */
export function isExecutableFile(path: string): boolean {
  try {
    // Most directories of a PATH do not contain the program, and an exception is expensive.
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true && isAllowed(path);
  } catch {
    return false; // The daemon's account may not access the file at all.
  }
}

function isAllowed(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // The file is gone, or the daemon's account may not run it.
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
