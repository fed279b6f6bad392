/** Reports the type, size, owner and other attributes of a path. */
import { promises as fs } from 'node:fs';
import { posix } from 'node:path';
import { errnoOf } from '../../../kit/errno.ts';
import { asFileOperation, FileFailure } from '../../../kit/file-failure.ts';
import { decodePath, showPath, systemPath } from '../../../kit/text/path-text.ts';
import { etagOf } from './etag.ts';
import type { FileRequest, FilesContext } from '../context.ts';
import { maxLinks } from '../foreign-links.ts';

export interface StatRequest extends FileRequest {
  /** Report the target of a link instead of the link. */
  readonly followSymlinks: boolean;
}

export interface FileStat {
  readonly path: string;
  /** The path without symbolic links; null when it cannot be resolved, as in a loop of links. */
  readonly realPath: string | null;
  readonly size: number;
  /** Permission bits as octal text, for example `644`. */
  readonly permissions: string;
  readonly isDirectory: boolean;
  /** Whether the path itself is a link, even if the other fields describe its target. */
  readonly isSymlink: boolean;
  readonly modifiedMs: number;
  readonly uid: number;
  readonly gid: number;
  readonly owner: string | null;
  readonly group: string | null;
  /** Type and permission bits, as in stat(2). */
  readonly mode: number;
  /** The text of the link; null when the path is not a link. */
  readonly target: string | null;
  readonly inode: number;
  /** Media type by extension; null when the path is not a regular file. */
  readonly mime: string | null;
  readonly etag: string;
}

export async function statFile(context: FilesContext, request: StatRequest): Promise<FileStat> {
  const { paths, accounts } = context;
  const path = paths.resolve(request.path, request.user);
  return asFileOperation('stat', path, async () => {
    const at = systemPath(path);
    const { link, stat } = await statusOf(path, request.followSymlinks);
    const [uid, gid] = [Number(stat.uid), Number(stat.gid)];
    return {
      path,
      realPath: await realPathOf(path),
      size: Number(stat.size),
      permissions: permissionsOf(stat),
      isDirectory: stat.isDirectory(),
      isSymlink: link.isSymbolicLink(),
      modifiedMs: Number(stat.mtimeMs),
      uid,
      gid,
      owner: accounts.ownerName(uid),
      group: accounts.groupName(gid),
      mode: Number(stat.mode),
      target: link.isSymbolicLink() ? await readLink(at) : null,
      inode: Number(stat.ino),
      mime: stat.isFile() ? context.mimeOf(path) : null,
      etag: etagOf(stat),
    };
  });
}

/** A failure for a missing file has the real path as a fact. */
async function statusOf(path: string, followSymlinks: boolean) {
  const at = systemPath(path);
  try {
    const link = await fs.lstat(at, { bigint: true });
    return { link, stat: link.isSymbolicLink() && followSymlinks ? await fs.stat(at, { bigint: true }) : link };
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    const realPath = await realPathOf(path);
    const facts = { realPath: realPath && showPath(realPath) };
    throw FileFailure.of('stat', path, 'ENOENT', { next: { operation: 'files.list' }, facts });
  }
}

/** Resolves the links of a path whose end may be missing: the missing names stay as they are. */
export async function realPathOf(path: string, followed = 0): Promise<string | null> {
  try {
    return decodePath(await fs.realpath(systemPath(path), 'buffer'));
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' || followed > maxLinks) return null; // A loop, or a directory that is closed to the daemon.
  }
  const parent = await realPathOf(posix.dirname(path), followed);
  if (parent === null) return null;
  const here = posix.join(parent, posix.basename(path));
  try {
    return await realPathOf(posix.resolve(parent, await readLink(systemPath(here))), followed + 1);
  } catch {
    return here; // The name is missing, because anything but a link would have been resolved.
  }
}

/** Formats the mode as three or four octal digits, as in chmod(1). */
export function permissionsOf({ mode }: { readonly mode: number | bigint }): string {
  return (Number(mode) & 0o7777).toString(8).padStart(3, '0');
}

async function readLink(at: string | Buffer): Promise<string> {
  return decodePath(await fs.readlink(at, 'buffer'));
}
