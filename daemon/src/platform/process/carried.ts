/** Finds the programs that a release carries beside the daemon, and a checkout has as npm packages. */
import { readlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { once } from '../../kit/once.ts';
import { isBuilt } from '../host/built.ts';

/** The absolute path of ripgrep. */
export const carriedRipgrep = once((): string => {
  // The daemon runs through the loader of the C library, which is unpacked into the same directory.
  if (isBuilt) return `${dirname(readlinkSync('/proc/self/exe'))}/rg`;
  const modules = new URL('../../../../node_modules/', import.meta.url);
  return fileURLToPath(new URL(`@vscode/ripgrep-linux-${process.arch}/bin/rg`, modules));
});
