/**
 * Files that another account is to read, such as scripts for its shell: each belongs to that account alone, in a
 * directory of ours that lets others pass and lists nothing, so that nobody can put a link in the place of either.
 */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fchownSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';

/** Of a directory that is made here, with the slash before it. */
const nameBytes = 12;

export class ScriptDirectory {
  #path: string | null = null;

  constructor(
    /** Where the name of the directory is kept for the next daemon. */
    private readonly notePath: string,
  ) {}

  /** Takes over the directory that an earlier daemon made, without what is in it. */
  recover(): void {
    if (!existsSync(this.notePath)) return;
    const path = readFileSync(this.notePath, 'utf8');
    if (!isOurs(path)) return;
    for (const name of readdirSync(path)) rmSync(`${path}/${name}`, { force: true });
    this.#path = path;
  }

  /** A path for the next one. Throws the system's error. */
  place(): string {
    return `${this.#open()}/${randomBytes(4).toString('hex')}`;
  }

  /** Throws the system's error. */
  write(
    path: string,
    content: string | Uint8Array,
    owner: { readonly uid: number; readonly gid: number } | null,
  ): void {
    const fd = openSync(path, 'wx', 0o400);
    try {
      if (owner) fchownSync(fd, owner.uid, owner.gid);
      writeFileSync(fd, content);
    } catch (error) {
      this.remove(path);
      throw error;
    } finally {
      closeSync(fd);
    }
  }

  remove(path: string): void {
    rmSync(path, { force: true });
  }

  /** With everything in it. */
  close(): void {
    if (this.#path === null) return;
    rmSync(this.#path, { recursive: true, force: true });
    rmSync(this.notePath, { force: true });
    this.#path = null;
  }

  #open(): string {
    if (this.#path !== null && existsSync(this.#path)) return this.#path;
    const path = makePassable();
    writeFileSync(this.notePath, path, { mode: 0o600 });
    this.#path = path;
    return path;
  }
}

/** A directory of ours that others may pass; its path is no longer than that. Throws the system's error. */
export function makePassable(mostBytes = Infinity): string {
  const place = places().find((path) => Buffer.byteLength(path) + nameBytes <= mostBytes && isPassable(path));
  const path = mkdtempSync(`${place ?? tmpdir()}/.sbx-`);
  chmodSync(path, 0o711);
  return path;
}

/** The first that is ours to use; a daemon that is root gives scripts to accounts that may not reach all of them. */
function places(): string[] {
  return [...new Set([tmpdir(), '/tmp', '/var/tmp', '/dev/shm'])];
}

/** For other accounts, as for this one. */
function isPassable(path: string): boolean {
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status?.isDirectory()) return false;
  if (process.getuid?.() !== 0) return true;
  return (status.mode & 0o001) !== 0 && (path === '/' || isPassable(dirname(path)));
}

export function isOurs(path: string): boolean {
  const status = lstatSync(path, { throwIfNoEntry: false });
  return status !== undefined && status.isDirectory() && status.uid === process.getuid?.();
}
