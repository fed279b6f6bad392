/**
 * Copies one small file with its properties in a few system calls, which block the daemon for their duration.
 * A round trip to a thread for each call would take many times as long.
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
import { copyAttributes, openToRead, setTimes } from './system-calls.ts';

export interface CopySettings {
  /** Null keeps the daemon's account as the owner. */
  ownerOf(stat: BigIntStats): { readonly uid: number; readonly gid: number } | null;
  /** A daemon that may not change the owner copies the file all the same. */
  readonly isOwnerOptional: boolean;
  modeOf(stat: BigIntStats, isOwnerGiven: boolean): number;
}

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
const blockBytes = 512n; // The unit of st_blocks, stat(2)
/** Errors of a name that is no longer the regular file that the directory listed. */
const replaced = new Set(['ENOENT', 'ELOOP', 'ENXIO', 'ENODEV']);

/** A small file that has been read and is still open. */
export class SmallFile implements Disposable {
  private constructor(
    private readonly descriptor: number,
    readonly stat: BigIntStats,
    private readonly bytes: Buffer,
  ) {}

  /** Null for anything but a regular file of at most `maxBytes` without holes. */
  static read(directory: number, name: string, maxBytes: number): SmallFile | null {
    const descriptor = openSource(directory, name);
    if (descriptor === null) return null;
    let file: SmallFile | null = null;
    try {
      const stat = fstatSync(descriptor, { bigint: true });
      const isSmall = stat.isFile() && stat.size <= maxBytes && stat.blocks * blockBytes >= stat.size;
      const bytes = isSmall ? readAll(descriptor, Number(stat.size)) : null;
      file = bytes && new SmallFile(descriptor, stat, bytes);
    } finally {
      if (!file) closeSync(descriptor);
    }
    return file;
  }

  /** Creates the file at a free path. The order matters: chown clears mode bits, so chmod comes last. */
  copyTo(path: string | Buffer, settings: CopySettings): void {
    const { descriptor, stat, bytes } = this;
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

function openSource(directory: number, name: string): number | null {
  try {
    return openToRead(directory, name);
  } catch (error) {
    if (replaced.has((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

/** Null when the file has grown since its size was read. */
function readAll(file: number, size: number): Buffer | null {
  const buffer = Buffer.allocUnsafe(size + 1);
  for (let length = 0; length <= size;) {
    const count = readSync(file, buffer, length, buffer.length - length, length);
    if (count === 0) return buffer.subarray(0, length);
    length += count;
  }
  return null;
}

function giveOwner(file: number, owner: ReturnType<CopySettings['ownerOf']>, isOptional: boolean): boolean {
  if (!owner) return true;
  try {
    fchownSync(file, owner.uid, owner.gid);
    return true;
  } catch (error) {
    if (isOptional && (error as NodeJS.ErrnoException).code === 'EPERM') return false;
    throw error;
  }
}
