/**
 * A directory that is held open, and what is done in it by name. Whatever an account does meanwhile to the path that
 * led here, by renaming or by planting links, the work stays in this directory.
 *
 * Node has no openat(2) and its kin, and Linux has an equal: a path below `/proc/self/fd/<n>` begins at the directory
 * of that descriptor (proc(5)). Every call is the runtime's own, and blocks no thread but one of its pool.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  promises as fs,
  readlinkSync,
  readSync,
  renameSync,
  type BigIntStats,
} from 'node:fs';
import { decodePath, systemPath } from '../kit/path-text.ts';
import { mountPoints } from './mounts.ts';
import {
  copyAttributes,
  exchange,
  renameWithoutReplacing,
  setLinkTimes,
  setTimes,
  type Times,
} from './system-calls.ts';

type FileHandle = fs.FileHandle;

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY, O_RDONLY, O_WRONLY } = constants;
/** Holds a place without the right to read it (open(2)); Node has no name for it. */
const O_PATH = 0o10000000;
const procMagic = 0x9fa0; // statfs(2)

export class Directory implements AsyncDisposable {
  private constructor(
    /** The path that led here, for messages. */
    readonly path: string,
    private readonly handle: FileHandle,
  ) {}

  /** Links on the way and at the end are followed. */
  static async open(path: string): Promise<Directory> {
    return new Directory(path, await fs.open(systemPath(path), O_PATH | O_DIRECTORY));
  }

  /** A directory in this one; a link by that name is refused with ENOTDIR. */
  openDirectory(name: string): Promise<Directory> {
    return this.#do(name, async (at) => {
      return new Directory(this.#pathOf(name), await fs.open(at, O_PATH | O_DIRECTORY | O_NOFOLLOW));
    });
  }

  /** The directory above, wherever that is now. */
  openParent(): Promise<Directory> {
    const above = this.path.slice(0, this.path.lastIndexOf('/')) || '/';
    return this.#do('..', async (at) => new Directory(above, await fs.open(at, O_PATH | O_DIRECTORY)));
  }

  /** What a link in this one leads to, wherever that is. */
  follow(name: string): Promise<Directory> {
    return this.#do(name, async (at) => new Directory(this.#pathOf(name), await fs.open(at, O_PATH | O_DIRECTORY)));
  }

  /** Whether it is a part of proc(5). */
  isOfProcesses(): Promise<boolean> {
    return this.#do('.', async (at) => (await fs.statfs(at)).type === procMagic);
  }

  /** Where it is now, without a link on the way. */
  async realPath(): Promise<string> {
    return decodePath(await fs.readlink(`/proc/self/fd/${this.handle.fd}`, 'buffer'));
  }

  /** What is mounted on the entry of this name, or below it. */
  async mountsBelow(name: string): Promise<string[]> {
    const own = await this.realPath();
    const path = own === '/' ? `/${name}` : `${own}/${name}`;
    return (await mountPoints()).filter((point) => point === path || point.startsWith(`${path}/`));
  }

  /** Makes a directory and opens it; EEXIST where the name is taken. */
  async makeDirectory(name: string, mode = 0o777): Promise<Directory> {
    await this.#do(name, (at) => fs.mkdir(at, mode));
    return this.openDirectory(name);
  }

  /** To read; a link by that name is refused with ELOOP, and a pipe waits for nobody. */
  openToRead(name: string): Promise<FileHandle> {
    return this.#do(name, (at) => fs.open(at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  }

  /** To write what is there; a link by that name is refused with ELOOP. */
  openToWrite(name: string): Promise<FileHandle> {
    return this.#do(name, (at) => fs.open(at, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  }

  /** A new file; EEXIST where the name is taken, by a link as well. */
  createFile(name: string, mode: number): Promise<FileHandle> {
    return this.#do(name, (at) => fs.open(at, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, mode));
  }

  /** Of the name itself: a link is told as a link. */
  stat(name: string): Promise<BigIntStats> {
    return this.#do(name, (at) => fs.lstat(at, { bigint: true }));
  }

  /** The same, and null where there is nothing by that name. */
  async find(name: string): Promise<BigIntStats | null> {
    try {
      return await this.stat(name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }

  /** Of this directory. */
  own(): Promise<BigIntStats> {
    return this.handle.stat({ bigint: true });
  }

  readLink(name: string): Promise<string> {
    return this.#do(name, async (at) => decodePath(await fs.readlink(at, 'buffer')));
  }

  makeLink(name: string, target: string): Promise<void> {
    return this.#do(name, (at) => fs.symlink(systemPath(target), at));
  }

  /** Names, in the order of the file system. */
  names(): Promise<string[]> {
    return this.#do('.', async (at) => {
      const names = await fs.readdir(at);
      // Bytes take four times as long, and say more only where some are not UTF-8.
      if (!names.some((name) => name.includes('\ufffd'))) return names;
      return (await fs.readdir(at, { encoding: 'buffer' })).map((name) => decodePath(name));
    });
  }

  /**
   * What follows with `Now` in its name blocks the daemon for one call of the system each, which costs a tenth of a
   * trip to a thread: for work on thousands of names, in slices.
   */
  readLinkNow(name: string): string {
    return this.#now(name, (at) => decodePath(readlinkSync(at, 'buffer')));
  }

  /** Of this directory. */
  ownNow(): BigIntStats {
    return fstatSync(this.handle.fd, { bigint: true });
  }

  /** Of the name itself; null where there is nothing by that name. */
  findNow(name: string): BigIntStats | null {
    return this.#now(name, (at) => lstatSync(at, { bigint: true, throwIfNoEntry: false }) ?? null);
  }

  /** A regular file and its state; null for anything else, a link included, and for one that is larger. */
  readNow(name: string, mostBytes: number): { readonly stat: BigIntStats; readonly bytes: Buffer } | null {
    return this.#now(name, (at) => {
      const file = openSync(at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
      try {
        const stat = fstatSync(file, { bigint: true });
        if (!stat.isFile() || stat.size > mostBytes) return null;
        const buffer = Buffer.allocUnsafe(Number(stat.size));
        let length = 0;
        for (let read = 1; read > 0 && length < buffer.length; length += read) {
          read = readSync(file, buffer, length, buffer.length - length, length);
        }
        return { stat, bytes: buffer.subarray(0, length) };
      } finally {
        closeSync(file);
      }
    });
  }

  /** In place of what has that name, in one step. */
  replaceNow(name: string, target: Directory, targetName: string): void {
    this.#now(name, (at) => renameSync(at, target.#at(targetName)));
  }

  /** A directory and all that is in it, which nobody else may be working in. */
  removeTree(name: string): Promise<void> {
    return this.#do(name, (at) => fs.rm(at, { recursive: true, force: true }));
  }

  /** A path that leads here for as long as this is open. */
  get heldPath(): string {
    return `/proc/self/fd/${this.handle.fd}`;
  }

  /** The names of which the file system says by itself that they are regular files: those that are text, where it can. */
  fileNames(): Promise<Set<string>> {
    return this.#do('.', async (at) => {
      const entries = await fs.readdir(at, { withFileTypes: true });
      return new Set(entries.filter((entry) => entry.isFile()).map(({ name }) => name));
    });
  }

  /** Anything but a directory. */
  removeFile(name: string): Promise<void> {
    return this.#do(name, (at) => fs.unlink(at));
  }

  /** An empty one; ENOTEMPTY otherwise. */
  removeDirectory(name: string): Promise<void> {
    return this.#do(name, (at) => fs.rmdir(at));
  }

  /** In place of what has that name, in one step. */
  replace(name: string, target: Directory, targetName: string): Promise<void> {
    return this.#do(name, (at) => fs.rename(at, target.#at(targetName)));
  }

  /** EEXIST where the name is taken; in one step, where the file system can. */
  rename(name: string, target: Directory, targetName: string): Promise<void> {
    return target.#do(targetName, async () => {
      try {
        renameWithoutReplacing({ from: this.handle.fd, name }, { to: target.handle.fd, name: targetName });
      } catch (error) {
        if (!['EINVAL', 'ENOSYS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
        if (await target.find(targetName)) throw Object.assign(new Error('EEXIST: rename'), { code: 'EEXIST' });
        await this.replace(name, target, targetName);
      }
    });
  }

  /** The two names change places, in one step. */
  async exchange(name: string, target: Directory, targetName: string): Promise<void> {
    await target.#do(targetName, () =>
      exchange({ from: this.handle.fd, name }, { to: target.handle.fd, name: targetName }),
    );
  }

  /** Of the name itself, be it a link. */
  async changeOwner(name: string, uid: number, gid: number): Promise<void> {
    await this.#do(name, (at) => fs.lchown(at, uid, gid));
  }

  /** Of this directory itself. */
  async changeOwn({ uid, gid, mode }: { uid?: number; gid?: number; mode?: number }): Promise<void> {
    await using opened = await this.#opened();
    if (uid !== undefined && gid !== undefined) await opened.chown(uid, gid);
    if (mode !== undefined) await opened.chmod(mode);
  }

  /** Gives this directory the extended attributes of another one, and these times. */
  async resemble(source: Directory, times: Times): Promise<void> {
    await using opened = await this.#opened();
    await using from = await source.#opened();
    copyAttributes(from.fd, opened.fd);
    setTimes(opened.fd, times);
  }

  /** Of the name itself, be it a link. */
  async setTimes(name: string, times: Times): Promise<void> {
    await this.#do(name, () => setLinkTimes(this.handle.fd, name, times));
  }

  /** Gives a file the extended attributes of the one by this name; of one that may not be read there are none to give. */
  async copyAttributes(name: string, target: FileHandle): Promise<void> {
    try {
      await using source = await this.openToRead(name);
      copyAttributes(source.fd, target.fd);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    }
  }

  /** Puts the names of this directory on the disk. */
  sync(): Promise<void> {
    return this.change(async () => undefined);
  }

  /**
   * Changes names of this directory, and puts them on the disk. The descriptor for that is taken first: what has been
   * changed is not told as failed for want of one. A directory that may be entered and not read is left to the system.
   */
  async change<T>(work: () => Promise<T>): Promise<T> {
    await using opened = await this.#readable();
    const result = await work();
    try {
      await opened?.sync();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error;
    }
    return result;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.handle.close();
  }

  async #readable(): Promise<FileHandle | null> {
    try {
      return await this.#opened();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EACCES') return null;
      throw error;
    }
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

  /** A failure names the path as the world knows it. */
  #named(error: unknown, name: string): unknown {
    if (error instanceof Error && 'code' in error) Object.assign(error, { path: this.#pathOf(name) });
    return error;
  }
}
