/** Resolves a path that is about to be created or changed to an open directory and a name. */
import type { BigIntStats } from 'node:fs';
import { errnoOf, nullOn } from '../../kit/errno.ts';
import { guarding } from '../../kit/guarding.ts';
import { FileFailure, type FileOperation } from '../../kit/file-failure.ts';
import type { Owner } from '../../kit/types/owner.ts';
import type { Directory } from '../../platform/files/directory.ts';
import { ForeignLinks, maxLinks } from './foreign-links.ts';
import type { OpenDirectory } from './open-directory.ts';
import { clearPart, type Parts } from './parts.ts';

/** The caller must dispose of the target. */
export class Target implements AsyncDisposable {
  constructor(
    /** The path of the file itself, with all links resolved. */
    readonly path: string,
    readonly directory: Directory,
    readonly name: string,
    /** Stat of the existing entry, or null when there is none. Never a link when links are followed. */
    readonly stat: BigIntStats | null,
  ) {}

  /** A file has the same key, whatever path leads to it. */
  async key(): Promise<string> {
    const { dev, ino } = await this.directory.own();
    return `${dev}:${ino}/${this.name}`;
  }

  /** The same target with a fresh stat. */
  async again(): Promise<Target> {
    return new Target(this.path, this.directory, this.name, await this.directory.find(this.name));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.directory[Symbol.asyncDispose]();
  }
}

export interface TargetOptions {
  readonly operation: FileOperation;
  /** Follow a link at the end of the path, even if its target is missing. Otherwise the target is the link itself. */
  readonly followLinks: boolean;
  /** The kind of access. A link of another account must lead to a place where that account has the same access. */
  readonly access?: 'read' | 'write';
  /** Create missing parent directories. */
  readonly parents?: NewDirectory;
}

export interface NewDirectory {
  /** Null is the daemon's account. */
  readonly owner: Owner | null;
  readonly parts: Parts;
}

/** Throws `permission_denied` when a link of another account leads to a file that this account may not access. */
export async function openTarget(open: OpenDirectory, path: string, options: TargetOptions): Promise<Target> {
  const { operation, followLinks, access = 'write' } = options;
  const links = new ForeignLinks(open, operation, access);
  let at = path;
  for (let followed = 0; followed <= maxLinks; followed++) {
    const name = lastSegment(at, operation);
    const directory = await openParent(links, parentOf(at), options);
    try {
      const stat = await directory.find(name);
      if (!stat?.isSymbolicLink() || !followLinks) {
        await links.assertAllowed(path, directory, stat);
        return new Target(at, directory, name, stat);
      }
      links.note(stat);
      const link = await directory.readLink(name);
      at = link.startsWith('/') ? link : `${parentOf(at)}/${link}`;
    } catch (error) {
      await directory[Symbol.asyncDispose]();
      throw error;
    }
    await directory[Symbol.asyncDispose]();
  }
  throw new FileFailure({ operation, path, errnoName: 'ELOOP' });
}

/** The last segment of a path. `/`, `.` and `..` are refused, because they name a directory and not an entry in one. */
function lastSegment(path: string, operation: FileOperation): string {
  const name = path.split('/').findLast((segment) => segment !== '') ?? '';
  if (name === '' || name === '.' || name === '..') {
    throw FileFailure.of(operation, path, 'EISDIR', {
      message: `${path}: does not end in the name of an entry`,
      hint: 'Pass the path of an entry in a directory.',
    });
  }
  return name;
}

export function parentOf(path: string): string {
  const tidy = path.replace(/\/+$/, '');
  return tidy.slice(0, tidy.lastIndexOf('/')) || '/';
}

async function openParent(links: ForeignLinks, path: string, options: TargetOptions): Promise<Directory> {
  try {
    return await links.openDirectory(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' || !options.parents || path === '/') throw error;
  }
  await using above = await openParent(links, parentOf(path), options);
  await links.assertAllowed(path, above, null);
  return await makeOwned(above, lastSegment(path, options.operation), options.parents);
}

/** Opens the directory at this path, or its nearest existing ancestor, for creating entries in it. */
export async function openNearest(open: OpenDirectory, path: string, operation: FileOperation): Promise<Directory> {
  try {
    return await openAllowed(open, path, operation);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' || path === '/') throw error;
  }
  return await openNearest(open, parentOf(path), operation);
}

async function openAllowed(open: OpenDirectory, path: string, operation: FileOperation): Promise<Directory> {
  const links = new ForeignLinks(open, operation, 'write');
  const directory = await links.openDirectory(path);
  await guarding(directory, () => links.assertAllowed(path, directory, null));
  return directory;
}

/** Creates a directory for its owner. A directory that another process creates first is accepted. */
export async function makeOwned(above: Directory, name: string, options: NewDirectory): Promise<Directory> {
  return (await nullOn('EEXIST', createOwned(above, name, options))) ?? (await above.openDirectory(name));
}

/**
 * Creates a directory. Throws EEXIST when the name is taken. The directory gets its name after its owner, because a
 * daemon that dies in between would leave a directory in which the owner can create nothing.
 */
export async function createOwned(
  above: Directory,
  name: string,
  { owner, parts }: NewDirectory,
  mode?: number,
): Promise<Directory> {
  if (!owner) return await above.makeDirectory(name, mode);
  const part = await parts.add(above.path);
  try {
    await using made = await above.makeDirectory(part.name, mode);
    await giveTo(made, owner, await above.own());
    await above.rename(part.name, above, name);
  } catch (error) {
    if (errnoOf(error) !== null)
      Object.assign(error as Error, { path: `${above.path === '/' ? '' : above.path}/${name}` });
    throw error;
  } finally {
    await clearPart({ directory: above, name: part.name }, part, 'mkdir');
  }
  return await above.openDirectory(name);
}

const setGroupId = 0o2000n;

/**
 * Changes the owner of a new directory. An account with rename rights may have swapped in another directory, so a
 * directory that does not look new keeps its owner.
 */
async function giveTo(made: Directory, owner: Owner, above: BigIntStats): Promise<void> {
  const { uid } = await made.own();
  if (uid !== BigInt(process.geteuid?.() ?? 0) || (await made.names()).length > 0) return;
  await made.changeOwn({ uid: owner.uid, gid: groupIn(above, owner) });
}

/** A new entry inherits the group of a directory with the set-group-id bit. */
export function groupIn({ mode, gid }: BigIntStats, owner: Owner): number {
  return (mode & setGroupId) === 0n ? owner.gid : Number(gid);
}
