/**
 * Fills a directory that no other account can enter with files, directories and symbolic links.
 * Paths are relative to the directory and pass through no symbolic link, because links are made last.
 *
 * A small file takes a few system calls that block the daemon for their duration. A round trip to a thread for each
 * call would be seven times slower. Large files are written by threads.
 */
import {
  closeSync,
  fchmodSync,
  fchownSync,
  futimesSync,
  lchownSync,
  linkSync,
  lutimesSync,
  mkdirSync,
  chmodSync,
  openSync,
  promises as fs,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { systemPath } from '../../kit/text/path-text.ts';
import type { Owner } from '../../kit/types/owner.ts';
import type { Directory } from './directory.ts';

export interface Attributes {
  /** Permission bits. */
  readonly mode: number;
  /** Seconds since 1970. */
  readonly modifiedSeconds: number;
}

const privateMode = 0o700;

export class TreeWriter {
  constructor(
    private readonly directory: Directory,
    /** The owner of everything that is made; null is the daemon's account. */
    private readonly owner: Owner | null,
  ) {}

  makeDirectory(path: string): void {
    mkdirSync(this.#at(path), privateMode);
  }

  writeFile(path: string, bytes: Uint8Array, { mode, modifiedSeconds }: Attributes): void {
    const file = openSync(this.#at(path), 'wx', 0o600);
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
      if (this.owner) fchownSync(file, this.owner.uid, this.owner.gid);
      fchmodSync(file, mode);
      futimesSync(file, modifiedSeconds, modifiedSeconds);
    } finally {
      closeSync(file);
    }
  }

  async writeLargeFile(path: string, pieces: AsyncIterable<Uint8Array>, attributes: Attributes): Promise<void> {
    const { mode, modifiedSeconds } = attributes;
    await using file = await fs.open(this.#at(path), 'wx', 0o600);
    for await (const piece of pieces) {
      for (let at = 0; at < piece.length;) at += (await file.write(piece, at)).bytesWritten;
    }
    if (this.owner) await file.chown(this.owner.uid, this.owner.gid);
    await file.chmod(mode);
    await file.utimes(modifiedSeconds, modifiedSeconds);
  }

  /** Adds a hard link to a file that has been written. */
  linkFile(path: string, existing: string): void {
    linkSync(this.#at(existing), this.#at(path));
  }

  makeLink(path: string, target: string, modifiedSeconds: number): void {
    const at = this.#at(path);
    symlinkSync(systemPath(target), at);
    if (this.owner) lchownSync(at, this.owner.uid, this.owner.gid);
    lutimesSync(at, modifiedSeconds, modifiedSeconds);
  }

  /** Called after the content is complete, because adding an entry changes the time of the directory. */
  finishDirectory(path: string, { mode, modifiedSeconds }: Attributes): void {
    const at = this.#at(path);
    if (this.owner) lchownSync(at, this.owner.uid, this.owner.gid);
    chmodSync(at, mode);
    lutimesSync(at, modifiedSeconds, modifiedSeconds);
  }

  #at(path: string): string | Buffer {
    return systemPath(`${this.directory.heldPath}/${path}`);
  }
}
