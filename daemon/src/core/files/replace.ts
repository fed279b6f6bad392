/** Puts new content in the place of a file in one step: a reader sees the old or the new, and a full disk leaves the old. */
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { FileFailure, errnoOf, type FileOperation } from '../../kit/file-failure.ts';
import type { Directory } from '../../platform/directory.ts';
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
/** What is to have the owner and the mode of another file is nobody's until then. */
const privateMode = 0o600;
/** Of a directory in which no file can be made, while the file itself may well be written to: procfs and its kin too. */
const closedDirectory = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'EOPNOTSUPP']);
/** Of a file that something else is mounted on, as containers do with `/etc/hosts`. */
const mountedOn = new Set(['EBUSY', 'EXDEV']);

/** Answers what is there now. */
export async function replaceFile(context: FilesContext, target: Target, content: NewContent): Promise<BigIntStats> {
  assertRegular(target, content.operation);
  await using arrival = await openArrival(context, target);
  await content.fill(arrival.file);
  return await arrival.land(target, content);
}

/** New content on its way: nobody sees it before it lands, and of one that never does nothing is left. */
export interface Arrival extends AsyncDisposable {
  /** To be filled from its beginning. */
  readonly file: FileHandle;
  /** Once. The target is the one it was opened for, as it is now. */
  land(target: Target, options: Omit<NewContent, 'fill'>): Promise<BigIntStats>;
}

/** Beside the target, where that can be: else in a file without a name. */
export async function openArrival(context: FilesContext, target: Target): Promise<Arrival> {
  const part = await context.parts.add(target.directory.path);
  try {
    const file = await unhidden(part, () => createPart(target, part));
    if (file) return new PartArrival(context, target.directory, part, file, target.stat !== null);
  } catch (error) {
    await part.done();
    throw error;
  }
  await part.done();
  return new SpoolArrival(await context.parts.spool());
}

/** In a directory where its place is not known yet. */
export async function openArrivalIn(context: FilesContext, directory: Directory): Promise<Arrival> {
  const part = await context.parts.add(directory.path);
  try {
    const file = await unhidden(part, () => directory.createFile(part.name, privateMode));
    return new PartArrival(context, directory, part, file, true);
  } catch (error) {
    await part.done();
    throw error;
  }
}

/** Nobody has asked for the name of a part: a failure there is one of the path that the operation is about. */
async function unhidden<T>({ name }: Part, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { path } = error as { readonly path?: unknown };
    if (typeof path === 'string' && path.endsWith(`/${name}`)) Object.assign(error as Error, { path: undefined });
    throw error;
  }
}

class PartArrival implements Arrival {
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
    await finishPart(target, this.file, options, this.isPrivate ? this.context.newFileMode : null);
    try {
      await target.directory.change(async () => {
        await unhidden(this.part, () => this.directory.replace(this.part.name, target.directory, target.name));
        this.#hasMoved = true;
      });
    } catch (error) {
      if (!mountedOn.has(errnoOf(error) ?? '')) throw error;
      return await this.#copyTo(target, options);
    }
    return await target.directory.stat(target.name);
  }

  /** The target is on another file system, or has one mounted on it. */
  async #copyTo(target: Target, options: Omit<NewContent, 'fill'>): Promise<BigIntStats> {
    await using source = await this.directory.openToRead(this.part.name);
    if (target.directory === this.directory) return await overwrite(target, source);
    const fill = (file: FileHandle) => copyAll(source, file);
    return await replaceFile(this.context, target, { ...options, fill });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.file.close();
    if (!this.#hasMoved) await this.directory.removeFile(this.part.name);
    await this.part.done();
  }
}

/** The file that is there has to be written to itself, in several steps; not before the new content is whole. */
class SpoolArrival implements Arrival {
  constructor(readonly file: FileHandle) {}

  land(target: Target, { operation }: Omit<NewContent, 'fill'>): Promise<BigIntStats> {
    assertRegular(target, operation);
    return overwrite(target, this.file);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.file.close();
  }
}

/** Only regular files have a content that can be put in their place. */
export function assertRegular({ stat, path }: Pick<Target, 'stat' | 'path'>, operation: FileOperation): void {
  if (!stat || stat.isFile()) return;
  if (stat.isDirectory()) throw new FileFailure({ operation, path, errnoName: 'EISDIR' });
  if (stat.isSymbolicLink())
    throw new FileFailure({ operation, path, errnoName: 'ELOOP', message: `${path}: is a link` });
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
    return await directory.createFile(part.name, stat ? privateMode : defaultMode);
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

async function overwrite({ directory, name }: Target, whole: FileHandle): Promise<BigIntStats> {
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
