/** Confines the paths of callers to a root directory, with all links resolved. */
import { posix } from 'node:path';
import { CoreError } from '../../kit/errors.ts';
import { isPath } from '../../kit/text/path-text.ts';
import type { FilesContext } from './context.ts';
import { realPathOf, statFile } from './read/stat.ts';

/**
 * The path below the root. A path that begins with the root is meant as it stands; any other is relative to the root.
 * `link` does not resolve the last name, for a caller that removes it. Throws `forbidden` for a path that leads out of
 * the root, and `bad_argument`. A command can do what its account can, so this is no boundary.
 */
export async function confine(
  context: FilesContext,
  root: string,
  given: string,
  last: 'resolved' | 'link' = 'resolved',
): Promise<string> {
  if (!isPath(given)) throw new CoreError('bad_argument', `no file can be called ${JSON.stringify(given)}`);
  const path = posix.join(root, isBelow(given, root) ? given.slice(root.length) : given).replace(/(?<=.)\/+$/, '');
  if (path === root) return root;
  if (!isBelow(path, root)) throw outside(given);
  const checked = last === 'link' ? posix.dirname(path) : path;
  const [real, realRoot] = [await realPathOf(checked), await realPathOf(root)];
  if (real === null) await statFile(context, { path: checked, user: null, followSymlinks: true });
  if (real === null || realRoot === null || !isBelow(real, realRoot)) throw outside(given);
  return path;
}

/** Whether a path is the root or below it. */
export function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith('/') ? root : `${root}/`);
}

function outside(given: string): CoreError {
  return new CoreError('forbidden', `${given} leads out of the root`);
}
