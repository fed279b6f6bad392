/** Prepares the directory in which keepers name the sockets that they keep for more than one command. */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';

/** Creates `path`, and removes the names of keepers that were killed. A name is the pid of its keeper. */
export function prepareKeeperNames(path: string): void {
  mkdirSync(path, { mode: 0o700, recursive: true });
  // A keeper removes its own name when it exits, so the name may be gone by now.
  for (const name of readdirSync(path)) if (!existsSync(`/proc/${name}`)) rmSync(`${path}/${name}`, { force: true });
}
