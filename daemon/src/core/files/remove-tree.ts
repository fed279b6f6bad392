/** Removes a directory with all that is below it, and nothing beside it, whatever is renamed or planted meanwhile. */
import { errnoOf, FileFailure, type FileOperation } from '../../kit/file-failure.ts';
import type { Directory } from '../../platform/directory.ts';
import { Descent } from './descent.ts';

/** A name in a directory. */
export interface Place {
  readonly directory: Directory;
  readonly name: string;
}

/** Calls that are on their way at the same time; more gain nothing. */
const atOnce = 32;
/** How often a directory is emptied again that somebody else goes on filling. */
const mostRounds = 100;

/** The first failure ends it: what has been removed by then is gone. */
export async function removeTree(parent: Directory, name: string, operation: FileOperation): Promise<void> {
  await refuseMounts(parent, name, operation);
  await using descent = new Descent(await parent.openDirectory(name), operation);
  const path: string[] = [];
  const inner: string[][] = [await removeFiles(descent.here)];
  const removeDirectory = removerOf((again) => inner.at(-1)?.push(again));
  for (;;) {
    const next = inner.at(-1)?.pop();
    if (next !== undefined) {
      if (!(await enter(descent, next))) continue;
      path.push(next);
      inner.push(await removeFiles(descent.here));
    } else if (descent.depth > 0) {
      await descent.up();
      inner.pop();
      await removeDirectory(descent.here, path.pop() ?? '');
    } else {
      if (await removeDirectory(parent, name)) return;
      inner[0] = await removeFiles(descent.here);
    }
  }
}

/** What is there, whatever it is. */
export async function removeAny({ directory, name }: Place, operation: FileOperation): Promise<void> {
  const stat = await directory.find(name);
  if (stat?.isDirectory()) await removeTree(directory, name, operation);
  else if (stat) await directory.removeFile(name);
}

/** Before anything is removed: a mount point cannot be, and what is mounted there is not meant. */
export async function refuseMounts(parent: Directory, name: string, operation: FileOperation): Promise<void> {
  const [point] = await parent.mountsBelow(name);
  if (point === undefined) return;
  throw new FileFailure({
    operation,
    path: point,
    errnoName: 'EBUSY',
    message: `${point}: something is mounted there`,
    hint: 'Unmount it first.',
  });
}

/** Answers the names that are directories. */
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

/** False when it was removed, or when somebody else did. */
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

/** False where there is no directory by that name any more; what has taken its place is removed. */
async function enter(descent: Descent, name: string): Promise<boolean> {
  try {
    await descent.down((here) => here.openDirectory(name));
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    if (errnoOf(error) !== 'ENOTDIR') throw error;
    if (await isDirectoryOrGone(descent.here, name)) throw error;
    return false;
  }
}

/** The function it answers removes an emptied directory; one that was filled meanwhile is told to `visitAgain`. */
function removerOf(visitAgain: (name: string) => void) {
  let rounds = 0;
  return async (directory: Directory, name: string): Promise<boolean> => {
    try {
      await directory.removeDirectory(name);
      return true;
    } catch (error) {
      const isFilled = errnoOf(error) === 'ENOTEMPTY' || errnoOf(error) === 'EEXIST';
      if (errnoOf(error) === 'ENOENT') return true;
      if (!isFilled || ++rounds > mostRounds) throw error;
      visitAgain(name);
      return false;
    }
  };
}
