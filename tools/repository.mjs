/** Where things are in this repository, for the tools that run on plain Node. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the repository, wherever the caller stands. */
export const repositoryRoot = dirname(dirname(fileURLToPath(import.meta.url)));

/** A file inside an installed package. Its launcher in `.bin` would run on whatever Node is there. */
export const binary = (path) => join(repositoryRoot, 'node_modules', path);

/** The pinned runtime: it runs the daemon, the tests and the checkers, so that Node's version matters to none of them. */
export function bunPath() {
  const path = join(repositoryRoot, 'node_modules/.bin/bun');
  if (!existsSync(path)) throw new Error('node_modules is missing: run npm ci');
  return path;
}
