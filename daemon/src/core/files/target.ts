/** Where a path leads to when something is created or changed there: a directory that is held open, and a name. */
import type { BigIntStats } from 'node:fs';
import { FileFailure, errnoOf, type FileOperation } from '../../kit/file-failure.ts';
import type { Directory } from '../../platform/directory.ts';
import { ForeignLinks, mostLinks } from './foreign-links.ts';
import type { Owner } from './owner.ts';

export type OpenDirectory = (path: string) => Promise<Directory>;

/** To be disposed of. */
export class Target implements AsyncDisposable {
  constructor(
    /** The path of the file itself, behind all links. */
    readonly path: string,
    readonly directory: Directory,
    readonly name: string,
    /** Of what is there; null where there is nothing yet. Never a link when links are followed. */
    readonly stat: BigIntStats | null,
  ) {}

  /** The same file has the same key, whatever path leads to it. */
  async key(): Promise<string> {
    const { dev, ino } = await this.directory.own();
    return `${dev}:${ino}/${this.name}`;
  }

  /** The same, as it is now. */
  async again(): Promise<Target> {
    return new Target(this.path, this.directory, this.name, await this.directory.find(this.name));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.directory[Symbol.asyncDispose]();
  }
}

export interface TargetOptions {
  readonly operation: FileOperation;
  /** Links at the end are followed, also to what is not there yet; else the link itself is meant. */
  readonly followLinks: boolean;
  /** What is done with it; links of other accounts have to lead to where these could do the same. */
  readonly access?: 'read' | 'write';
  /** Missing directories on the way are made, for this owner; null is the daemon's account. */
  readonly parents?: { readonly owner: Owner | null };
}

/** Throws `permission_denied` where a root daemon is led by a link of somebody who has no right to what is there. */
export async function openTarget(open: OpenDirectory, path: string, options: TargetOptions): Promise<Target> {
  const { operation, followLinks, access = 'write' } = options;
  const links = new ForeignLinks(open, operation, access);
  let at = path;
  for (let followed = 0; followed <= mostLinks; followed++) {
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

/** What a path ends in. `/`, `.` and `..` name a directory, and no entry of one. */
function lastSegment(path: string, operation: FileOperation): string {
  const name = path.split('/').findLast((segment) => segment !== '') ?? '';
  if (name === '' || name === '.' || name === '..') {
    throw new FileFailure({
      operation,
      path,
      errnoName: 'EISDIR',
      message: `${path}: names a directory by its place, not by a name`,
      hint: 'Give the path of an entry in a directory.',
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
  return await makeOwned(above, lastSegment(path, options.operation), options.parents.owner);
}

/** The directory at this path, or the first one above it that is there: something is to be made in it. */
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
  try {
    await links.assertAllowed(path, directory, null);
    return directory;
  } catch (error) {
    await directory[Symbol.asyncDispose]();
    throw error;
  }
}

/** Makes a directory for its owner; one that somebody else made meanwhile is as good. */
export async function makeOwned(above: Directory, name: string, owner: Owner | null): Promise<Directory> {
  try {
    return await createOwned(above, name, owner);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
    return await above.openDirectory(name);
  }
}

/** A new directory; EEXIST where the name is taken. */
export async function createOwned(
  above: Directory,
  name: string,
  owner: Owner | null,
  mode?: number,
): Promise<Directory> {
  const made = await above.makeDirectory(name, mode);
  try {
    if (owner) await giveTo(made, owner, await above.own());
    return made;
  } catch (error) {
    await made[Symbol.asyncDispose]();
    throw error;
  }
}

const setGroupId = 0o2000n;

/** An account that may rename things there may have put another directory in the place of the new one: that is left alone. */
async function giveTo(made: Directory, owner: Owner, above: BigIntStats): Promise<void> {
  const { uid } = await made.own();
  if (uid !== BigInt(process.geteuid?.() ?? 0) || (await made.names()).length > 0) return;
  await made.changeOwn({ uid: owner.uid, gid: groupIn(above, owner) });
}

/** A directory with the set-group-id bit gives its group to what is made in it. */
export function groupIn({ mode, gid }: BigIntStats, owner: Owner): number {
  return (mode & setGroupId) === 0n ? owner.gid : Number(gid);
}
