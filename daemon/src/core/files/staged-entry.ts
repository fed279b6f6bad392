/** Builds an entry under a hidden name, then moves the finished entry to its target in one step. */
import type { BigIntStats } from 'node:fs';
import { errnoOf, nullOn } from '../../kit/errno.ts';
import { FileFailure, type FileOperation } from '../../kit/file-failure.ts';
import type { FilesContext } from './context.ts';
import { isSameFile } from './tree/tree-cursor.ts';
import { clearPart } from './parts.ts';
import { refuseMounts, removeTree, type EntryName } from './tree/remove-tree.ts';
import type { OpenDirectory } from './open-directory.ts';
import type { Target } from './target.ts';
import { parentOf } from './target.ts';
import type { KeyedMutex } from './write/keyed-mutex.ts';

export interface StagedOptions {
  readonly operation: FileOperation;
  /** Replace an existing target. */
  readonly overwrite: boolean;
}

/** Moves the part that `make` creates to the target. On failure, removes the part. */
export async function makeStaged(
  context: FilesContext,
  target: Target,
  placing: StagedOptions,
  make: (part: EntryName) => Promise<void>,
): Promise<void> {
  const { directory } = target;
  const part = await context.parts.add(directory.path);
  const place = { directory, name: part.name };
  try {
    await make(place);
    await directory.change(() => put(context, place, target, placing));
  } catch (error) {
    throw named(error, `${directory.path}/${part.name}`, target.path);
  } finally {
    await clearPart(place, part, placing.operation);
  }
}

/** Replaces the hidden name in an error by the target path, also in an error without an absolute path. */
function named(error: unknown, hidden: string, path: string): unknown {
  if (errnoOf(error) === null) return error;
  const { path: inner } = error as { readonly path?: unknown };
  const isElsewhere = typeof inner === 'string' && inner.startsWith('/') && !inner.startsWith('/proc/self/fd/');
  const shown = isElsewhere ? inner.replace(hidden, () => path) : path;
  return Object.assign(error as Error, { path: shown });
}

/** Renames in one step. Throws `file_exists`, or EXDEV when the two places are on different file systems. */
export async function put(
  context: FilesContext,
  from: EntryName,
  target: Target,
  { operation, overwrite }: StagedOptions,
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

/** Renames the old directory to the name of a part, then removes the part. */
async function replaceDirectory(
  context: FilesContext,
  from: EntryName,
  target: EntryName,
  operation: FileOperation,
): Promise<void> {
  const exchanging = from.directory.exchange(from.name, target.directory, target.name);
  const hasChanged = (await nullOn(withoutExchange, exchanging)) !== null;
  const old = hasChanged ? from : target;
  const part = await context.parts.add(old.directory.path);
  await old.directory.rename(old.name, old.directory, part.name);
  // Without an exchange, the target name does not exist for a moment.
  if (!hasChanged) await from.directory.rename(from.name, target.directory, target.name);
  await removeTree(old.directory, part.name, operation);
  await part.done();
}

/** What a file system that does not support an exchange answers. */
const withoutExchange = new Set(['EINVAL', 'ENOSYS']);

/** Throws when the entry at the destination cannot be replaced by the source. */
export function assertReplaceable(source: BigIntStats, target: Target, { operation, overwrite }: StagedOptions): void {
  const { path, stat } = target;
  if (!stat) return;
  if (!overwrite) throw exists(path, operation);
  if (source.isDirectory() === stat.isDirectory()) return;
  const [what, other] = source.isDirectory() ? ['a directory', 'no directory'] : ['no directory', 'a directory'];
  throw FileFailure.of(operation, path, source.isDirectory() ? 'ENOTDIR' : 'EISDIR', {
    message: `${path}: is ${other}, and the source is ${what}`,
    hint: 'Delete the existing entry first, or choose another destination.',
  });
}

function exists(path: string, operation: FileOperation): FileFailure {
  const hint = 'Set overwrite to true to replace the existing entry.';
  return new FileFailure({ operation, path, errnoName: 'EEXIST', hint });
}

/** Throws when a directory would be placed inside itself. The destination may be missing. */
export async function assertNotInside(
  open: OpenDirectory,
  source: Target,
  destination: string,
  operation: FileOperation,
): Promise<void> {
  if (!source.stat?.isDirectory()) return;
  if (!(await hasAbove(open, parentOf(destination), source.stat))) return;
  throw FileFailure.of(operation, destination, 'EINVAL', {
    message: `${destination}: is inside the source, ${source.path}`,
    hint: 'Choose a destination outside the source.',
  });
}

/** Throws when the entry to be replaced is the source, or contains the source. */
export async function assertApart(
  open: OpenDirectory,
  source: Target,
  target: Target,
  operation: FileOperation,
): Promise<void> {
  if (!target.stat || !source.stat) return;
  const isSame = isSameFile(source.stat, target.stat);
  if (!isSame && !(target.stat.isDirectory() && (await hasAbove(open, source.directory.path, target.stat)))) return;
  throw FileFailure.of(operation, target.path, 'EINVAL', {
    message: `${target.path}: ${isSame ? 'is' : 'holds'} the source, ${source.path}`,
    hint: 'Choose another destination.',
  });
}

/** Whether a path is this directory or lies below it. For a missing path, checks the nearest existing ancestor. */
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

/** Locks all keys, always in sorted order, so that two callers cannot deadlock. */
export function lockAll<T>(locks: KeyedMutex, keys: readonly string[], work: () => Promise<T>): Promise<T> {
  const [first, ...rest] = [...new Set(keys)].toSorted();
  return first === undefined ? work() : locks.run(first, () => lockAll(locks, rest, work));
}
