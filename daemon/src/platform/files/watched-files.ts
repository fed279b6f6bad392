/** Lists directories in slices and reads single files for watchers, without following links. */
import { closeSync, constants, fstatSync, lstatSync, openSync, statfsSync, type BigIntStats } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { decodePath, systemPath } from '../../kit/text/path-text.ts';
import { nextEntries } from '../host/system-calls.ts';
import { readNames } from './entries.ts';
import { entriesIn, type DirectoryEntry } from './read-directory.ts';

export interface FileFacts {
  readonly isDirectory: boolean;
  readonly device: number;
  readonly inode: number;
  readonly size: number;
  readonly mode: number;
  /** Nanoseconds since 1970. */
  readonly modifiedNs: bigint;
  readonly changedNs: bigint;
}

/** Errors carry a `code` such as ENOENT. */
export class WatchedFiles {
  /** Refuses a symbolic link in the last component (ELOOP or ENOTDIR). */
  open(path: string): OpenDirectory {
    return new OpenDirectory(path);
  }

  /** Does not follow symbolic links. */
  async facts(path: string): Promise<FileFacts> {
    return factsOf(await lstat(systemPath(path), { bigint: true }));
  }

  /** Like `facts`, but synchronous: for many files it takes a tenth of the work. Null when the file does not exist. */
  factsNow(path: string): FileFacts | null {
    const stats = lstatSync(systemPath(path), { bigint: true, throwIfNoEntry: false });
    return stats ? factsOf(stats) : null;
  }

  async realPath(path: string): Promise<string> {
    return decodePath(await realpath(systemPath(path), { encoding: 'buffer' }));
  }

  async names(path: string): Promise<string[]> {
    return await readNames(systemPath(path));
  }
}

function factsOf(stats: BigIntStats): FileFacts {
  return {
    isDirectory: stats.isDirectory(),
    device: Number(stats.dev),
    inode: Number(stats.ino),
    size: Number(stats.size),
    mode: Number(stats.mode),
    modifiedNs: stats.mtimeNs,
    changedNs: stats.ctimeNs,
  };
}

const openFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const sliceBytes = 16 * 1024;
const majorBits = 0xfff00;
/** Magic numbers of statfs(2): procfs, sysfs, cgroup, cgroup2, debugfs, tracefs, securityfs, bpf. */
const synthetic = new Set([0x9fa0, 0x62656572, 0x27e0eb, 0x63677270, 0x64626720, 0x74726163, 0x73636673, 0xcafe4a11]);

/**
 * An open directory. The watch and the listing refer to the same directory, whatever happens to its path. It lists by
 * system calls of its own: the runtime reads a directory of 100 000 names in one piece, which takes 35 ms.
 */
export class OpenDirectory implements Disposable {
  readonly #descriptor: number;
  readonly #buffer = Buffer.allocUnsafe(sliceBytes);

  constructor(path: string) {
    this.#descriptor = openSync(systemPath(path), openFlags);
  }

  /** A path to the directory that is valid while it is open. */
  get path(): string {
    return `/proc/self/fd/${this.#descriptor}`;
  }

  /** True when the kernel generates the files as they are read (procfs, sysfs and similar). */
  get isSynthetic(): boolean {
    // These file systems have no major device number, which is cheaper to check first.
    const hasDevice = (fstatSync(this.#descriptor).dev & majorBits) !== 0;
    return !hasDevice && synthetic.has(statfsSync(this.path).type);
  }

  /** The next names; null at the end. */
  next(): DirectoryEntry[] | null {
    try {
      const length = nextEntries(this.#descriptor, this.#buffer);
      return length === 0 ? null : entriesIn(this.#buffer.subarray(0, length));
    } catch {
      return null; // The directory was removed meanwhile.
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }
}
