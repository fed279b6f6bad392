/** Makes something under a hidden name, and puts it in its place in one step when it is whole. */
import type { BigIntStats } from 'node:fs';
import { errnoOf, FileFailure, type FileOperation } from '../../kit/file-failure.ts';
import type { FilesContext } from './context.ts';
import { isSameFile } from './descent.ts';
import { refuseMounts, removeAny, removeTree, type Place } from './remove-tree.ts';
import type { OpenDirectory, Target } from './target.ts';
import { parentOf } from './target.ts';
import type { Turns } from './turns.ts';

export interface Placing {
  readonly operation: FileOperation;
  /** What is there is replaced. */
  readonly overwrite: boolean;
}

/** What `make` makes of a part lands at the target; when it fails, nothing is left. */
export async function makeInPlace(
  context: FilesContext,
  target: Target,
  placing: Placing,
  make: (part: Place) => Promise<void>,
): Promise<void> {
  const { directory } = target;
  const part = await context.parts.add(directory.path);
  const place = { directory, name: part.name };
  try {
    await make(place);
    await directory.change(() => put(context, place, target, placing));
  } catch (error) {
    await removeAny(place, placing.operation).catch(() => null); // The first failure is the one to be told.
    throw named(error, `${directory.path}/${part.name}`, target.path);
  } finally {
    // What could not be removed stays noted, for the next start.
    if (!(await directory.find(part.name))) await part.done();
  }
}

/** A failure at the hidden name is one at the target, and so is one without a path. */
function named(error: unknown, hidden: string, path: string): unknown {
  if (errnoOf(error) === null) return error;
  const { path: inner } = error as { readonly path?: unknown };
  const isElsewhere = typeof inner === 'string' && inner.startsWith('/') && !inner.startsWith('/proc/self/fd/');
  const told = isElsewhere ? inner.replace(hidden, () => path) : path;
  return Object.assign(error as Error, { path: told });
}

/** In one step. Throws `file_exists`; EXDEV where both are not on one file system. */
export async function put(
  context: FilesContext,
  from: Place,
  target: Target,
  { operation, overwrite }: Placing,
): Promise<void> {
  try {
    if (overwrite) return await from.directory.replace(from.name, target.directory, target.name);
    return await from.directory.rename(from.name, target.directory, target.name);
  } catch (error) {
    if (!isTaken(error)) throw error;
    if (!overwrite) throw exists(target.path, operation);
  }
  await refuseMounts(target.directory, target.name, operation);
  await replaceDirectory(context, from, target, operation);
}

function isTaken(error: unknown): boolean {
  return errnoOf(error) === 'EEXIST' || errnoOf(error) === 'ENOTEMPTY';
}

/** What was there goes out of sight under the name of a part, and then away. */
async function replaceDirectory(
  context: FilesContext,
  from: Place,
  target: Place,
  operation: FileOperation,
): Promise<void> {
  const hasChanged = await exchange(from, target);
  const old = hasChanged ? from : target;
  const part = await context.parts.add(old.directory.path);
  await old.directory.rename(old.name, old.directory, part.name);
  // Without an exchange there is a moment in which nothing is there.
  if (!hasChanged) await from.directory.rename(from.name, target.directory, target.name);
  await removeTree(old.directory, part.name, operation);
  await part.done();
}

/** False where the file system cannot do that. */
async function exchange(from: Place, target: Place): Promise<boolean> {
  try {
    await from.directory.exchange(from.name, target.directory, target.name);
    return true;
  } catch (error) {
    if (errnoOf(error) !== 'EINVAL' && errnoOf(error) !== 'ENOSYS') throw error;
    return false;
  }
}

/** What may stand in the way of a source at its destination. */
export function assertReplaceable(source: BigIntStats, target: Target, { operation, overwrite }: Placing): void {
  const { path, stat } = target;
  if (!stat) return;
  if (!overwrite) throw exists(path, operation);
  if (source.isDirectory() === stat.isDirectory()) return;
  const [what, other] = source.isDirectory() ? ['a directory', 'no directory'] : ['no directory', 'a directory'];
  throw new FileFailure({
    operation,
    path,
    errnoName: source.isDirectory() ? 'ENOTDIR' : 'EISDIR',
    message: `${path}: is ${other}, and the source is ${what}`,
    hint: 'Delete what is there first, or choose another destination.',
  });
}

function exists(path: string, operation: FileOperation): FileFailure {
  const hint = 'With overwrite: true what is there is replaced.';
  return new FileFailure({ operation, path, errnoName: 'EEXIST', hint });
}

/** A directory cannot go into itself. Looked at before anything is made, so the destination may not be there yet. */
export async function assertNotInside(
  open: OpenDirectory,
  source: Target,
  destination: string,
  operation: FileOperation,
): Promise<void> {
  if (!source.stat?.isDirectory()) return;
  if (!(await hasAbove(open, parentOf(destination), source.stat))) return;
  throw new FileFailure({
    operation,
    path: destination,
    errnoName: 'EINVAL',
    message: `${destination}: lies in the source, ${source.path}`,
    hint: 'Choose a destination outside of the source.',
  });
}

/** A destination that is to be replaced must hold neither the source, nor be it. */
export async function assertApart(
  open: OpenDirectory,
  source: Target,
  target: Target,
  operation: FileOperation,
): Promise<void> {
  if (!target.stat || !source.stat) return;
  const isSame = isSameFile(source.stat, target.stat);
  if (!isSame && !(target.stat.isDirectory() && (await hasAbove(open, source.directory.path, target.stat)))) return;
  throw new FileFailure({
    operation,
    path: target.path,
    errnoName: 'EINVAL',
    message: `${target.path}: ${isSame ? 'is' : 'holds'} the source, ${source.path}`,
    hint: 'Choose another destination.',
  });
}

/** Whether a directory is this one or lies below it; of a path, that of it which is there. */
async function hasAbove(open: OpenDirectory, path: string, directory: BigIntStats): Promise<boolean> {
  let at = await openExisting(open, path);
  for (;;) {
    await using here = at;
    const own = await here.own();
    if (isSameFile(own, directory)) return true;
    at = await here.openParent();
    if (!isSameFile(await at.own(), own)) continue;
    await at[Symbol.asyncDispose]();
    return false;
  }
}

async function openExisting(open: OpenDirectory, path: string): ReturnType<OpenDirectory> {
  try {
    return await open(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' || path === '/') throw error;
    return openExisting(open, parentOf(path));
  }
}

/** Waits for the turns of all keys, always in the same order, so that no two wait for each other. */
export function takeAll<T>(turns: Turns, keys: readonly string[], work: () => Promise<T>): Promise<T> {
  const [first, ...rest] = [...new Set(keys)].toSorted();
  return first === undefined ? work() : turns.take(first, () => takeAll(turns, rest, work));
}
