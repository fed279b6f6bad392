/** Paths in this repository, for tools that run on plain Node. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the repository, independent of the working directory. */
export const repositoryRoot = dirname(dirname(fileURLToPath(import.meta.url)));

/** A file inside an installed package. Its launcher in `.bin` would run on the machine's Node. */
export const binary = (path) => join(repositoryRoot, 'node_modules', path);

/** The pinned runtime. It runs the daemon, the tests and the checkers, so that Node's version does not affect them. */
export function bunPath() {
  const path = join(repositoryRoot, 'node_modules/.bin/bun');
  if (!existsSync(path)) throw new Error('node_modules is missing: run npm ci');
  return path;
}

/** Where `tools/test-daemon.mjs` puts the compiled daemon, below the root of the repository. */
export const compiledDaemon = 'dist/.test/boxkeep-daemon';

/** The ripgrep of this machine's architecture, which npm installs with the packages. */
export function ripgrepPath() {
  return join(repositoryRoot, `node_modules/@vscode/ripgrep-linux-${process.arch}/bin/rg`);
}
