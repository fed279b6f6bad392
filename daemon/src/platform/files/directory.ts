/**
 * An open directory and the file operations on the names in it.
 * The operations stay in this directory, even if an account renames parts of the path or plants symbolic links
 * meanwhile.
 *
 * Node has no openat(2) and its relatives. Linux offers an equivalent: a path below `/proc/self/fd/<n>` starts at the
 * directory of that descriptor (proc(5)). All calls are the runtime's own and block only a thread of its pool.
 */
import { constants, fstatSync, lstatSync, promises as fs, readlinkSync, renameSync, type BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { errnoOf, nullOn } from '../../kit/errno.ts';
import { decodePath, systemPath } from '../../kit/text/path-text.ts';
import { readEntries, readEntriesNow, readNames, type Entry } from './entries.ts';
import { SmallFile, type CopySettings } from './small-file.ts';
import { mountPoints } from './mounts.ts';
import {
  copyAttributes,
  exchange,
  renameWithoutReplacing,
  setLinkTimes,
  setTimes,
  type Times,
} from '../host/system-calls.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY, O_RDONLY, O_WRONLY, W_OK } = constants;
/** Opens a directory without read permission on it (open(2)); Node has no name for this flag. */
const O_PATH = 0o10000000;
const procMagic = 0x9fa0; // statfs(2)

export class Directory implements AsyncDisposable {
  private constructor(
    /** The path that was opened, for messages. */
    readonly path: string,
    private readonly handle: FileHandle,
  ) {}

  /** Follows symbolic links, also in the last component. */
  static async open(path: string): Promise<Directory> {
    return new Directory(path, await fs.open(systemPath(path), O_PATH | O_DIRECTORY));
  }

  /** Opens a directory in this one; refuses a symbolic link with ENOTDIR. */
  openDirectory(name: string): Promise<Directory> {
    return this.#do(name, async (at) => {
      return new Directory(this.#pathOf(name), await fs.open(at, O_PATH | O_DIRECTORY | O_NOFOLLOW));
    });
  }

  /** Opens the parent directory, wherever this directory is now. */
  openParent(): Promise<Directory> {
    const above = this.path.slice(0, this.path.lastIndexOf('/')) || '/';
    return this.#do('..', async (at) => new Directory(above, await fs.open(at, O_PATH | O_DIRECTORY)));
  }

  /** Opens the directory that a symbolic link in this one points to, wherever that is. */
  follow(name: string): Promise<Directory> {
    return this.#do(name, async (at) => new Directory(this.#pathOf(name), await fs.open(at, O_PATH | O_DIRECTORY)));
  }

  /** Whether this directory is on procfs (proc(5)). */
  isOfProcesses(): Promise<boolean> {
    return this.#do('.', async (at) => (await fs.statfs(at)).type === procMagic);
  }

  /** The current path of this directory, without symbolic links. */
  async realPath(): Promise<string> {
    return decodePath(await fs.readlink(`/proc/self/fd/${this.handle.fd}`, 'buffer'));
  }

  /** The mount points at the entry of this name or below it. */
  async mountsBelow(name: string): Promise<string[]> {
    const own = await this.realPath();
    const path = own === '/' ? `/${name}` : `${own}/${name}`;
    return (await mountPoints()).filter((point) => point === path || point.startsWith(`${path}/`));
  }

  /** Makes a directory and opens it; EEXIST when the name exists. */
  async makeDirectory(name: string, mode = 0o777): Promise<Directory> {
    await this.#do(name, (at) => fs.mkdir(at, mode));
    return this.openDirectory(name);
  }

  /** Opens a file to read. Refuses a symbolic link with ELOOP, and does not block on a pipe. */
  openToRead(name: string): Promise<FileHandle> {
    return this.#do(name, (at) => fs.open(at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  }

  /** Opens an existing file to write; refuses a symbolic link with ELOOP. */
  openToWrite(name: string): Promise<FileHandle> {
    return this.#do(name, (at) => fs.open(at, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  }

  /** EACCES, EPERM or EROFS when this process may not write the existing file, although it may replace it. */
  assertWritable(name: string): Promise<void> {
    return this.#do(name, (at) => fs.access(at, W_OK));
  }

  /** Creates a file; EEXIST when the name exists, also as a symbolic link. */
  createFile(name: string, mode: number): Promise<FileHandle> {
    return this.#do(name, (at) => fs.open(at, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, mode));
  }

  /** The attributes of the name itself; a symbolic link is not followed. */
  stat(name: string): Promise<BigIntStats> {
    return this.#do(name, (at) => fs.lstat(at, { bigint: true }));
  }

  /** Like `stat`, but null when the name does not exist. */
  async find(name: string): Promise<BigIntStats | null> {
    return await nullOn('ENOENT', this.stat(name));
  }

  /** The attributes of this directory. */
  own(): Promise<BigIntStats> {
    return this.handle.stat({ bigint: true });
  }

  readLink(name: string): Promise<string> {
    return this.#do(name, async (at) => decodePath(await fs.readlink(at, 'buffer')));
  }

  makeLink(name: string, target: string): Promise<void> {
    return this.#do(name, (at) => fs.symlink(systemPath(target), at));
  }

  /** The names, in the order of the file system. */
  names(): Promise<string[]> {
    return this.#do('.', readNames);
  }

  /** The entries, in the order of the file system. */
  entries(): Promise<Entry[]> {
    return this.#do('.', readEntries);
  }

  /**
   * Methods that end in `Now` block the daemon for one system call each. Such a call costs a tenth of a round trip to a
   * thread. They are meant for work on thousands of names, in time slices.
   */
  readLinkNow(name: string): string {
    return this.#now(name, (at) => decodePath(readlinkSync(at, 'buffer')));
  }

  /** The attributes of this directory. */
  ownNow(): BigIntStats {
    return fstatSync(this.handle.fd, { bigint: true });
  }

  /** Like `entries`; for a directory whose own size is small. */
  entriesNow(): Entry[] {
    return this.#now('.', readEntriesNow);
  }

  /** The attributes of the name itself; null when the name does not exist. */
  findNow(name: string): BigIntStats | null {
    return this.#now(name, (at) => lstatSync(at, { bigint: true, throwIfNoEntry: false }) ?? null);
  }

  /** Opens a regular file to read. Null when the name is gone or is anything else. */
  openFileNow(name: string): SmallFile | null {
    try {
      return SmallFile.open(this.handle.fd, name, this.#pathOf(name));
    } catch (error) {
      throw this.#named(error, name);
    }
  }

  /**
   * Copies a regular file of at most `maxBytes` to the same name in another directory, which must be free.
   * Null when the name is something else, a larger or sparse file, or is gone: nothing was created then.
   */
  copyNow(name: string, target: Directory, maxBytes: number, settings: CopySettings): BigIntStats | null {
    using source = this.openFileNow(name);
    if (!source || source.stat.size > maxBytes || source.isSparse) return null;
    const size = Number(source.stat.size);
    const buffer = Buffer.allocUnsafe(size + 1);
    const length = source.read(buffer);
    if (length > size) return null; // It has grown meanwhile.
    target.#now(name, (at) => source.copyTo(at, buffer.subarray(0, length), settings));
    return source.stat;
  }

  /** Renames over an existing name, atomically. */
  replaceNow(name: string, target: Directory, targetName: string): void {
    this.#now(name, (at) => renameSync(at, target.#at(targetName)));
  }

  /** A path to this directory that is valid while the directory is open. */
  get heldPath(): string {
    return `/proc/self/fd/${this.handle.fd}`;
  }

  /** Removes anything but a directory. */
  removeFile(name: string): Promise<void> {
    return this.#do(name, (at) => fs.unlink(at));
  }

  /** Removes an empty directory; ENOTEMPTY otherwise. */
  removeDirectory(name: string): Promise<void> {
    return this.#do(name, (at) => fs.rmdir(at));
  }

  /** Renames over an existing name, atomically. */
  replace(name: string, target: Directory, targetName: string): Promise<void> {
    return this.#do(name, (at) => fs.rename(at, target.#at(targetName)));
  }

  /** Renames to a free name; EEXIST when the name exists. Atomic where the file system supports that. */
  rename(name: string, target: Directory, targetName: string): Promise<void> {
    return target.#do(targetName, async () => {
      try {
        renameWithoutReplacing({ from: this.handle.fd, name }, { to: target.handle.fd, name: targetName });
      } catch (error) {
        if (!['EINVAL', 'ENOSYS'].includes(errnoOf(error) ?? '')) throw error;
        if (await target.find(targetName)) throw Object.assign(new Error('EEXIST: rename'), { code: 'EEXIST' });
        await this.replace(name, target, targetName);
      }
    });
  }

  /** Swaps the two names, atomically. */
  async exchange(name: string, target: Directory, targetName: string): Promise<void> {
    await target.#do(targetName, () =>
      exchange({ from: this.handle.fd, name }, { to: target.handle.fd, name: targetName }),
    );
  }

  /** Changes the owner of the name itself, also of a symbolic link. */
  async changeOwner(name: string, uid: number, gid: number): Promise<void> {
    await this.#do(name, (at) => fs.lchown(at, uid, gid));
  }

  async changeOwn({ uid, gid, mode }: { uid?: number; gid?: number; mode?: number }): Promise<void> {
    await using opened = await this.#opened();
    if (uid !== undefined && gid !== undefined) await opened.chown(uid, gid);
    if (mode !== undefined) await opened.chmod(mode);
  }

  /** Copies the extended attributes of another directory to this one, and sets these times. */
  async resemble(source: Directory, times: Times): Promise<void> {
    await using opened = await this.#opened();
    await using from = await source.#opened();
    copyAttributes(from.fd, opened.fd);
    setTimes(opened.fd, times);
  }

  /** Sets the times of the name itself, also of a symbolic link. */
  async setTimes(name: string, times: Times): Promise<void> {
    await this.#do(name, () => setLinkTimes(this.handle.fd, name, times));
  }

  /** Copies the extended attributes of a file to `target`. Does nothing when the daemon may not read the file. */
  async copyAttributes(name: string, target: FileHandle): Promise<void> {
    try {
      await using source = await this.openToRead(name);
      copyAttributes(source.fd, target.fd);
    } catch (error) {
      if (errnoOf(error) !== 'EACCES') throw error;
    }
  }

  /** Writes the entries of this directory to the disk. */
  sync(): Promise<void> {
    return this.change(async () => undefined);
  }

  /**
   * Changes names in this directory and writes them to the disk.
   * The descriptor for the sync is opened first. Otherwise a change that took place could be reported as failed because
   * no descriptor was free. A directory that may be entered but not read is not synced.
   */
  async change<T>(work: () => Promise<T>): Promise<T> {
    await using opened = await this.#readable();
    const result = await work();
    if (opened) await nullOn('EINVAL', opened.sync());
    return result;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.handle.close();
  }

  async #readable(): Promise<FileHandle | null> {
    return await nullOn('EACCES', this.#opened());
  }

  #opened(): Promise<FileHandle> {
    return this.#do('.', (at) => fs.open(at, O_RDONLY | O_DIRECTORY));
  }

  #at(name: string): string | Buffer {
    return systemPath(`/proc/self/fd/${this.handle.fd}/${name}`);
  }

  #pathOf(name: string): string {
    if (name === '.') return this.path;
    return this.path === '/' ? `/${name}` : `${this.path}/${name}`;
  }

  async #do<T>(name: string, work: (at: string | Buffer) => T | Promise<T>): Promise<T> {
    try {
      return await work(this.#at(name));
    } catch (error) {
      throw this.#named(error, name);
    }
  }

  #now<T>(name: string, work: (at: string | Buffer) => T): T {
    try {
      return work(this.#at(name));
    } catch (error) {
      throw this.#named(error, name);
    }
  }

  /** Puts the path that callers know into an error. */
  #named(error: unknown, name: string): unknown {
    if (error instanceof Error && 'code' in error) Object.assign(error, { path: this.#pathOf(name) });
    return error;
  }
}
