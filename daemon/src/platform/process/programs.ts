/** Looks up programs on a PATH at the moment of use. */
import { accessSync, constants, statSync } from 'node:fs';

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
