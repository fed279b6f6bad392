/** Removes a directory tree and nothing outside it, even if other processes rename or plant entries meanwhile. */
import { errnoOf } from '../../../kit/errno.ts';
import { FileFailure, type FileOperation } from '../../../kit/file-failure.ts';
import type { Directory } from '../../../platform/files/directory.ts';
import { TreeCursor } from './tree-cursor.ts';

export interface EntryName {
  readonly directory: Directory;
  readonly name: string;
}

/** Number of calls in parallel. A higher number is not faster. */
const atOnce = 32;
/** Maximum number of retries for directories that another process keeps filling. */
const maxRounds = 100;

/** Stops at the first failure. Entries removed before the failure stay removed. */
export async function removeTree(parent: Directory, name: string, operation: FileOperation): Promise<void> {
  await refuseMounts(parent, name, operation);
  await using walk = new TreeCursor(await parent.openDirectory(name), operation);
  const path: string[] = [];
  const inner: string[][] = [await removeFiles(walk.here)];
  const removeDirectory = removerOf((again) => inner.at(-1)?.push(again));
  for (;;) {
    const next = inner.at(-1)?.pop();
    if (next !== undefined) {
      if (!(await enter(walk, next))) continue;
      path.push(next);
      inner.push(await removeFiles(walk.here));
    } else if (walk.depth > 0) {
      await walk.up();
      inner.pop();
      await removeDirectory(walk.here, path.pop() ?? '');
    } else {
      if (await removeDirectory(parent, name)) return;
      inner[0] = await removeFiles(walk.here);
    }
  }
}

/** Removes an entry of any type, or nothing. */
export async function removeAny({ directory, name }: EntryName, operation: FileOperation): Promise<void> {
  const stat = await directory.find(name);
  if (stat?.isDirectory()) await removeTree(directory, name, operation);
  else if (stat) await directory.removeFile(name);
}

/** Throws before anything is removed if something is mounted in the tree: the mounted files must stay. */
export async function refuseMounts(parent: Directory, name: string, operation: FileOperation): Promise<void> {
  const [point] = await parent.mountsBelow(name);
  if (point === undefined) return;
  throw FileFailure.of(operation, point, 'EBUSY', {
    message: `${point}: something is mounted there`,
    hint: 'Unmount it first.',
  });
}

/** Removes the files and returns the names of the directories. */
async function removeFiles(directory: Directory): Promise<string[]> {
  const names = await directory.names();
  const directories: string[] = [];
  for (let at = 0; at < names.length; at += atOnce) {
    await Promise.all(
      names.slice(at, at + atOnce).map(async (name) => {
        if (await isDirectoryOrGone(directory, name)) directories.push(name);
      }),
    );
  }
  return directories;
}

/** False when the entry was removed, by this call or by another process. */
async function isDirectoryOrGone(directory: Directory, name: string): Promise<boolean> {
  try {
    await directory.removeFile(name);
    return false;
  } catch (error) {
    if (errnoOf(error) === 'EISDIR') return true;
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** False when the name is no longer a directory. A file or link that replaced the directory is removed. */
async function enter(walk: TreeCursor, name: string): Promise<boolean> {
  try {
    await walk.down((here) => here.openDirectory(name));
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    if (errnoOf(error) !== 'ENOTDIR') throw error;
    if (await isDirectoryOrGone(walk.here, name)) throw error;
    return false;
  }
}

/** Removes an emptied directory, or calls `visitAgain` if another process has filled it. */
function removerOf(visitAgain: (name: string) => void) {
  let rounds = 0;
  return async (directory: Directory, name: string): Promise<boolean> => {
    try {
      await directory.removeDirectory(name);
      return true;
    } catch (error) {
      const isFilled = errnoOf(error) === 'ENOTEMPTY' || errnoOf(error) === 'EEXIST';
      if (errnoOf(error) === 'ENOENT') return true;
      if (!isFilled || ++rounds > maxRounds) throw error;
      visitAgain(name);
      return false;
    }
  };
}
