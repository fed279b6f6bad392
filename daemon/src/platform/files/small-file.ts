/**
 * Reads a small file, and copies it with its properties, in a few system calls, which block the daemon for their
 * duration. A round trip to a thread for each call would take many times as long.
 */
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  openSync,
  readSync,
  writeSync,
  type BigIntStats,
} from 'node:fs';
import { errnoOf, nullOnNow } from '../../kit/errno.ts';
import type { Owner } from '../../kit/types/owner.ts';
import { copyAttributes, openToRead, setTimes } from '../host/system-calls.ts';

export interface CopySettings {
  /** Null keeps the daemon's account as the owner. */
  ownerOf(stat: BigIntStats): Owner | null;
  /** A daemon that may not change the owner copies the file all the same. */
  readonly isOwnerOptional: boolean;
  modeOf(stat: BigIntStats, isOwnerGiven: boolean): number;
}

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
const blockBytes = 512n; // The unit of st_blocks, stat(2)
/** Errors of a name that is no longer the regular file that the directory listed. */
const replaced = new Set(['ENOENT', 'ELOOP', 'ENXIO', 'ENODEV']);

/** A regular file that is open for reading. */
export class SmallFile implements Disposable {
  private constructor(
    private readonly descriptor: number,
    readonly stat: BigIntStats,
    private readonly path: string,
  ) {}

  /** Null when the name is gone or is anything but a regular file. The path is for messages. */
  static open(directory: number, name: string, path: string): SmallFile | null {
    const descriptor = nullOnNow(replaced, () => openToRead(directory, name));
    if (descriptor === null) return null;
    let file: SmallFile | null = null;
    try {
      const stat = fstatSync(descriptor, { bigint: true });
      file = stat.isFile() ? new SmallFile(descriptor, stat, path) : null;
    } finally {
      if (!file) closeSync(descriptor);
    }
    return file;
  }

  /** True when some of the content is not stored. */
  get isSparse(): boolean {
    return this.stat.blocks * blockBytes < this.stat.size;
  }

  /** Reads from the start until the buffer is full or the file ends. Returns the number of bytes. */
  read(buffer: Buffer): number {
    try {
      let length = 0;
      for (let count = 1; count > 0 && length < buffer.length; length += count) {
        count = readSync(this.descriptor, buffer, length, buffer.length - length, length);
      }
      return length;
    } catch (error) {
      throw Object.assign(error as Error, { path: this.path });
    }
  }

  /** Creates a file with this content at a free path. The order matters: chown clears mode bits, so chmod comes last. */
  copyTo(path: string | Buffer, bytes: Buffer, settings: CopySettings): void {
    const { descriptor, stat } = this;
    const to = openSync(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(to, bytes, at, bytes.length - at, at);
      const isGiven = giveOwner(to, settings.ownerOf(stat), settings.isOwnerOptional);
      copyAttributes(descriptor, to);
      setTimes(to, stat);
      fchmodSync(to, settings.modeOf(stat, isGiven));
    } finally {
      closeSync(to);
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.descriptor);
  }
}

function giveOwner(file: number, owner: ReturnType<CopySettings['ownerOf']>, isOptional: boolean): boolean {
  if (!owner) return true;
  try {
    fchownSync(file, owner.uid, owner.gid);
    return true;
  } catch (error) {
    if (isOptional && errnoOf(error) === 'EPERM') return false;
    throw error;
  }
}
