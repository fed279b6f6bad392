/** Puts new content in the place of a file in one step: a reader sees the old or the new, and a full disk leaves the old. */
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { FileFailure, errnoOf, type FileOperation } from '../../kit/file-failure.ts';
import type { FilesContext } from './context.ts';
import type { Owner } from './owner.ts';
import type { Part } from './parts.ts';
import { groupIn, type Target } from './target.ts';

export interface NewContent {
  readonly operation: FileOperation;
  /** Of a new file; what is replaced keeps its owner. null is the daemon's account. */
  readonly owner: Owner | null;
  /** Permission bits; null keeps those of what is replaced. */
  readonly mode: number | null;
  /** Writes the whole content; called once. */
  fill(file: FileHandle): Promise<void>;
}

const permissionBits = 0o7777n;
const defaultMode = 0o666;
/** Of a directory in which no file can be made, while the file itself may well be written to: procfs and its kin too. */
const closedDirectory = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'EOPNOTSUPP']);
/** Of a file that something else is mounted on, as containers do with `/etc/hosts`. */
const mountedOn = new Set(['EBUSY', 'EXDEV']);

/** Answers what is there now. */
export async function replaceFile(context: FilesContext, target: Target, content: NewContent): Promise<BigIntStats> {
  assertRegular(target, content.operation);
  const { directory } = target;
  const part = await context.parts.add(directory.path);
  try {
    const file = await createPart(target, part);
    if (!file) return await overwrite(context, target, content.fill);
    try {
      await fillPart(target, file, content);
      await file.close();
      return await putInPlace(context, target, part);
    } catch (error) {
      await file.close().catch(() => null); // It is closed where only the renaming failed.
      await directory.removeFile(part.name).catch(() => null); // The first failure is the one to be told.
      throw error;
    }
  } finally {
    await part.done();
  }
}

/** Only regular files have a content that can be put in their place. */
export function assertRegular({ stat, path }: Pick<Target, 'stat' | 'path'>, operation: FileOperation): void {
  if (!stat || stat.isFile()) return;
  if (stat.isDirectory()) throw new FileFailure({ operation, path, errnoName: 'EISDIR' });
  throw new FileFailure({
    operation,
    path,
    errnoName: 'EINVAL',
    errorType: 'invalid_target',
    message: `${path}: is ${kindOf(stat)}, not a regular file`,
    hint: 'POST /v2/commands runs what reads or writes pipes and devices.',
  });
}

/** Of what is neither a file, a link nor a directory. */
export function kindOf(stat: BigIntStats): string {
  if (stat.isFIFO()) return 'a pipe';
  return stat.isSocket() ? 'a socket' : 'a device';
}

/** null where the directory takes no new file, and the file that is there has to be written to itself. */
async function createPart({ directory, stat }: Target, part: Part): Promise<FileHandle | null> {
  if (stat && !canGiveTo(stat)) return null;
  try {
    return await directory.createFile(part.name, stat ? 0o600 : defaultMode);
  } catch (error) {
    if (stat && closedDirectory.has(errnoOf(error) ?? '')) return null;
    throw error;
  }
}

/** Whether a new file can be made to belong to whom this one belongs. */
function canGiveTo({ uid, gid }: BigIntStats): boolean {
  const own = BigInt(process.geteuid?.() ?? 0);
  if (own === 0n) return true;
  const groups = [process.getegid?.() ?? 0, ...(process.getgroups?.() ?? [])];
  return uid === own && groups.includes(Number(gid));
}

async function fillPart({ directory, name, stat }: Target, file: FileHandle, content: NewContent): Promise<void> {
  await content.fill(file);
  if (stat) {
    await inherit(directory, name, file, stat);
  } else if (content.owner) {
    await file.chown(content.owner.uid, groupIn(await directory.own(), content.owner));
  }
  const mode = content.mode ?? (stat && Number(stat.mode & permissionBits));
  if (mode !== null) await file.chmod(mode); // Last: a change of the owner takes bits away.
  await file.sync();
}

/** Owner and extended attributes of what is replaced. */
async function inherit(
  directory: Target['directory'],
  name: string,
  file: FileHandle,
  old: BigIntStats,
): Promise<void> {
  const { uid, gid } = await file.stat({ bigint: true });
  if (uid !== old.uid || gid !== old.gid) await file.chown(Number(old.uid), Number(old.gid));
  await directory.copyAttributes(name, file);
}

async function putInPlace(context: FilesContext, target: Target, part: Part): Promise<BigIntStats> {
  const { directory, name } = target;
  try {
    await directory.replace(part.name, directory, name);
  } catch (error) {
    if (!mountedOn.has(errnoOf(error) ?? '')) throw error;
    await using source = await directory.openToRead(part.name);
    const stat = await overwrite(context, target, (file) => copyAll(source, file));
    await directory.removeFile(part.name);
    return stat;
  }
  await directory.sync();
  return directory.stat(name);
}

/** In several steps, where one is not possible; not before the new content is whole. */
async function overwrite(
  context: FilesContext,
  { directory, name }: Target,
  fill: (file: FileHandle) => Promise<void>,
): Promise<BigIntStats> {
  await using whole = await context.parts.spool();
  await fill(whole);
  await using file = await directory.openToWrite(name);
  await copyAll(whole, file);
  const { size } = await whole.stat();
  await settle(async () => file.truncate(size));
  await settle(() => file.sync());
  return await file.stat({ bigint: true });
}

/** Files of the kernel's own have no length to be set and are on no disk. */
async function settle(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (errnoOf(error) !== 'EINVAL' && errnoOf(error) !== 'EPERM') throw error;
  }
}

const pieceBytes = 256 * 1024;

/** All of the first one, to where the second one stands. */
export async function copyAll(
  source: FileHandle,
  target: FileHandle,
  onPiece?: (piece: Uint8Array) => void,
): Promise<void> {
  const buffer = Buffer.allocUnsafe(pieceBytes);
  for (let at = 0; ;) {
    const { bytesRead } = await source.read(buffer, 0, pieceBytes, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    const piece = buffer.subarray(0, bytesRead);
    onPiece?.(piece);
    await writeAll(target, piece);
  }
}

/** A write may take less than it is given. */
export async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at);
    at += bytesWritten;
  }
}
