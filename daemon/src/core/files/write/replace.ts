/** Replaces the content of a file atomically: a reader sees the old or the new content. */
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { errnoOf, nullOn } from '../../../kit/errno.ts';
import { FileFailure, type FileOperation } from '../../../kit/file-failure.ts';
import type { Owner } from '../../../kit/types/owner.ts';
import type { Directory } from '../../../platform/files/directory.ts';
import type { FilesContext } from '../context.ts';
import { clearPart, type Part } from '../parts.ts';
import { groupIn, type Target } from '../target.ts';

export interface NewContent {
  readonly operation: FileOperation;
  /** Owner of a new file; null is the daemon's account. A replaced file keeps its owner. */
  readonly owner: Owner | null;
  /** Permission bits; null keeps the bits of the replaced file. */
  readonly mode: number | null;
  /** Fail with EEXIST when another process creates the file meanwhile. */
  readonly mustBeNew?: boolean;
  /** Called with the whole file just before it is put in place. */
  readonly finish?: (file: FileHandle) => void;
  /** Writes the whole content; called once. */
  fill(file: FileHandle): Promise<void>;
}

const permissionBits = 0o7777n;
const defaultMode = 0o666;
/** Mode of a new file until it gets the owner and the mode of the replaced file. */
const privateMode = 0o600;
/** Errors of a directory that accepts no new file, as in procfs, although an existing file may be writable. */
const closedDirectory = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'EOPNOTSUPP']);
/** Errors from a file that is a mount point. Containers mount `/etc/hosts` this way. */
const mountedOn = new Set(['EBUSY', 'EXDEV']);

/** Returns the stat of the new file. */
export async function replaceFile(context: FilesContext, target: Target, content: NewContent): Promise<BigIntStats> {
  assertRegular(target, content.operation);
  await using arrival = await openArrival(context, target);
  await content.fill(arrival.file);
  return await arrival.land(target, content);
}

/** Staged content. It is invisible until it lands; disposal removes content that did not land. */
export interface Arrival extends AsyncDisposable {
  /** Write the content from the beginning of this file. */
  readonly file: FileHandle;
  /** Call at most once. The target is the target that the content was opened for, with a fresh stat. */
  land(target: Target, options: Omit<NewContent, 'fill'>): Promise<BigIntStats>;
}

/** Stages the content beside the target if possible, otherwise in an unnamed file. */
export async function openArrival(context: FilesContext, target: Target): Promise<Arrival> {
  const part = await context.parts.add(target.directory.path);
  try {
    const file = await createPart(target, part);
    if (file) return new PartReceiver(context, target.directory, part, file, target.stat !== null);
  } catch (error) {
    await part.done();
    throw error;
  }
  await part.done();
  return new SpoolReceiver(await context.parts.spool());
}

/** Stages the content in a directory before the final target is known. */
export async function openArrivalIn(context: FilesContext, directory: Directory): Promise<Arrival> {
  const part = await context.parts.add(directory.path);
  try {
    const file = await directory.createFile(part.name, privateMode);
    return new PartReceiver(context, directory, part, file, true);
  } catch (error) {
    await part.done();
    throw error;
  }
}

class PartReceiver implements Arrival {
  #hasMoved = false;

  constructor(
    private readonly context: FilesContext,
    private readonly directory: Directory,
    private readonly part: Part,
    readonly file: FileHandle,
    private readonly isPrivate: boolean,
  ) {}

  async land(target: Target, options: Omit<NewContent, 'fill'>): Promise<BigIntStats> {
    assertRegular(target, options.operation);
    // The permission of the directory would suffice for the rename.
    if (target.stat) await target.directory.assertWritable(target.name);
    await finishPart(target, this.file, options, this.isPrivate ? this.context.newFileMode : null);
    try {
      await target.directory.change(async () => {
        if (options.mustBeNew) await this.directory.rename(this.part.name, target.directory, target.name);
        else await this.directory.replace(this.part.name, target.directory, target.name);
        this.#hasMoved = true;
      });
    } catch (error) {
      if (!mountedOn.has(errnoOf(error) ?? '')) throw error;
      return await this.#copyTo(target, options);
    }
    return await target.directory.stat(target.name);
  }

  /** For a target that is on another file system or is a mount point. */
  async #copyTo(target: Target, options: Omit<NewContent, 'fill'>): Promise<BigIntStats> {
    await using source = await this.directory.openToRead(this.part.name);
    if (target.directory === this.directory) return await overwrite(target, source, options);
    const fill = (file: FileHandle) => copyAll(source, file);
    return await replaceFile(this.context, target, { ...options, fill });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.file.close();
    if (this.#hasMoved) await this.part.done();
    else await clearPart({ directory: this.directory, name: this.part.name }, this.part, 'write');
  }
}

/** Overwrites the existing file in place, in several writes, once the new content is complete. */
class SpoolReceiver implements Arrival {
  constructor(readonly file: FileHandle) {}

  land(target: Target, options: Omit<NewContent, 'fill'>): Promise<BigIntStats> {
    assertRegular(target, options.operation);
    return overwrite(target, this.file, options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.file.close();
  }
}

/** Throws unless the target is missing or a regular file. Only regular files have replaceable content. */
export function assertRegular({ stat, path }: Pick<Target, 'stat' | 'path'>, operation: FileOperation): void {
  if (!stat || stat.isFile()) return;
  if (stat.isDirectory()) throw new FileFailure({ operation, path, errnoName: 'EISDIR' });
  if (stat.isSymbolicLink())
    throw new FileFailure({ operation, path, errnoName: 'ELOOP', message: `${path}: is a link` });
  throw FileFailure.of(operation, path, 'EINVAL', {
    kind: 'invalidTarget',
    message: `${path}: is ${kindOf(stat)}, not a regular file`,
    hint: 'Read or write pipes and devices with a command.',
    next: { operation: 'commands.start' },
  });
}

/** Names a type that is not a file, a link or a directory. */
export function kindOf(stat: BigIntStats): string {
  if (stat.isFIFO()) return 'a pipe';
  return stat.isSocket() ? 'a socket' : 'a device';
}

/** null when the directory accepts no new file. The existing file is then overwritten in place. */
async function createPart({ directory, stat }: Target, part: Part): Promise<FileHandle | null> {
  if (stat && !canGiveTo(stat)) return null;
  if (!stat) return await directory.createFile(part.name, defaultMode);
  return await nullOn(closedDirectory, directory.createFile(part.name, privateMode));
}

/** Whether a new file can be given the owner and group of this file. */
function canGiveTo({ uid, gid }: BigIntStats): boolean {
  const own = BigInt(process.geteuid?.() ?? 0);
  if (own === 0n) return true;
  const groups = [process.getegid?.() ?? 0, ...(process.getgroups?.() ?? [])];
  return uid === own && groups.includes(Number(gid));
}

async function finishPart(
  { directory, name, stat }: Target,
  file: FileHandle,
  options: Omit<NewContent, 'fill'>,
  ownMode: number | null,
): Promise<void> {
  if (stat) {
    await inherit(directory, name, file, stat);
  } else if (options.owner) {
    await file.chown(options.owner.uid, groupIn(await directory.own(), options.owner));
  }
  const mode = options.mode ?? (stat ? Number(stat.mode & permissionBits) : ownMode);
  options.finish?.(file);
  if (mode !== null) await file.chmod(mode); // The mode is set last, because chown clears mode bits.
  await file.sync();
}

/** Copies the owner and the extended attributes of the replaced file. */
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

async function overwrite(
  { directory, name }: Target,
  whole: FileHandle,
  { finish }: Pick<NewContent, 'finish'>,
): Promise<BigIntStats> {
  await using file = await directory.openToWrite(name);
  await copyAll(whole, file);
  const { size } = await whole.stat();
  await nullOn(unsettled, file.truncate(size));
  finish?.(file);
  await nullOn(unsettled, file.sync());
  return await file.stat({ bigint: true });
}

/** The errors of procfs and sysfs files, which cannot be truncated or synced. */
const unsettled = new Set(['EINVAL', 'EPERM']);

const pieceBytes = 256 * 1024;

/** Copies the whole source to the current position of the target. */
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

/** One write call may accept only some of the bytes. */
export async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at);
    at += bytesWritten;
  }
}
