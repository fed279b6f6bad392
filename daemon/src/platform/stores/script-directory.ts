/**
 * Files for other accounts, such as scripts for a shell. Each file belongs to its account alone.
 * They stand in a directory of the daemon that other accounts can traverse but not list or change. No account can
 * therefore replace the directory or a file with a symbolic link.
 */
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
import { randomBytes } from '../../kit/crypto.ts';
import type { Owner } from '../../kit/types/owner.ts';

/** Length of the name of a directory made here, with the slash before it. */
const nameBytes = 12;

export class ScriptDirectory {
  #path: string | null = null;

  constructor(
    /** The file that keeps the name of the directory for the next daemon. */
    private readonly notePath: string,
  ) {}

  /** Takes over the directory of an earlier daemon and removes its content. */
  recover(): void {
    if (!existsSync(this.notePath)) return;
    const path = readFileSync(this.notePath, 'utf8');
    if (!isOurs(path)) return;
    for (const name of readdirSync(path)) rmSync(`${path}/${name}`, { force: true });
    this.#path = path;
  }

  /** A path for the next file. Throws the system's error. */
  place(): string {
    return `${this.#open()}/${randomBytes(4).toString('hex')}`;
  }

  /** Throws the system's error. */
  write(path: string, content: string | Uint8Array, owner: Owner | null): void {
    try {
      writeOwned(path, content, owner);
    } catch (error) {
      this.remove(path);
      throw error;
    }
  }

  /** Whether the owner of a file has added to it. False for a file that was removed. */
  hasGrown(path: string, bytes: number): boolean {
    return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > bytes;
  }

  remove(path: string): void {
    rmSync(path, { force: true });
  }

  /** Removes the directory with its content. */
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

/** Makes a file that its account alone may read and write. */
export function writeOwned(path: string, content: string | Uint8Array, owner: Owner | null): void {
  const fd = openSync(path, 'wx', 0o600);
  try {
    if (owner) fchownSync(fd, owner.uid, owner.gid);
    writeFileSync(fd, content);
  } finally {
    closeSync(fd);
  }
}

/** Makes a directory that other accounts can traverse, with a path of at most `maxBytes` bytes. */
export function makePassable(maxBytes = Infinity): string {
  const place = places().find((path) => Buffer.byteLength(path) + nameBytes <= maxBytes && isPassable(path));
  const path = mkdtempSync(`${place ?? tmpdir()}/.boxkeep-`);
  chmodSync(path, 0o711);
  return path;
}

/** Candidates for the directory. A root daemon writes for accounts that may be unable to reach some of them. */
function places(): string[] {
  return [...new Set([tmpdir(), '/tmp', '/var/tmp', '/dev/shm'])];
}

/** Whether other accounts can traverse the path, too. */
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
