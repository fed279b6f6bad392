/** Tells what a path leads to. */
import { promises as fs } from 'node:fs';
import { asFileOperation } from '../../kit/file-failure.ts';
import { decodePath, systemPath } from '../../kit/path-text.ts';
import { etagOf } from './etag.ts';
import type { FilesContext } from './context.ts';

export interface StatRequest {
  readonly path: string;
  readonly user: string | null;
  /** Tells of what a link points at, and not of the link. */
  readonly followSymlinks: boolean;
}

export interface FileStat {
  readonly path: string;
  readonly size: number;
  /** Permission bits, as octal text: `644`. */
  readonly permissions: string;
  readonly isDirectory: boolean;
  /** Of the path itself, whatever is told of what it points at. */
  readonly isSymlink: boolean;
  readonly modifiedMs: number;
  readonly uid: number;
  readonly gid: number;
  readonly owner: string | null;
  readonly group: string | null;
  /** Type and permission bits, as stat(2) has them. */
  readonly mode: number;
  /** What a link says; null where the path is none. */
  readonly target: string | null;
  readonly inode: number;
  /** By the extension; null for what is no regular file. */
  readonly mime: string | null;
  readonly etag: string;
}

export async function statFile(context: FilesContext, request: StatRequest): Promise<FileStat> {
  const { places, accounts } = context;
  const path = places.resolve(request.path, request.user);
  return asFileOperation('stat', path, async () => {
    const at = systemPath(path);
    const link = await fs.lstat(at, { bigint: true });
    const stat = link.isSymbolicLink() && request.followSymlinks ? await fs.stat(at, { bigint: true }) : link;
    const [uid, gid] = [Number(stat.uid), Number(stat.gid)];
    return {
      path,
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

/** The three or four octal digits of chmod(1). */
export function permissionsOf({ mode }: { readonly mode: number | bigint }): string {
  return (Number(mode) & 0o7777).toString(8).padStart(3, '0');
}

async function readLink(at: string | Buffer): Promise<string> {
  return decodePath(await fs.readlink(at, 'buffer'));
}
