/** Confines the paths of callers to a root directory, with all links resolved. */
import { posix } from 'node:path';
import { CoreError } from '../../kit/errors.ts';
import { isPath } from '../../kit/text/path-text.ts';
import { guarding } from '../../kit/guarding.ts';
import type { FilesContext } from './context.ts';
import { openDownload, type Download } from './read/download.ts';
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

/**
 * Opens a file below the root for sending. Its path is checked again once it is open: an account could swap in a link
 * after the first check, and so read with the rights of the daemon.
 */
export async function openConfined(context: FilesContext, root: string, path: string): Promise<Download> {
  const download = await openDownload(context, { path, user: null, changePolicy: 'ignore' });
  return await guarding(download, async () => {
    const [real, realRoot] = [await download.realPath(), await realPathOf(root)];
    if (realRoot === null || !isBelow(real, realRoot)) throw outside(path);
    return download;
  });
}

/** Whether a path is the root or below it. */
export function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith('/') ? root : `${root}/`);
}

function outside(given: string): CoreError {
  return new CoreError('forbidden', `${given} leads out of the root`);
}
