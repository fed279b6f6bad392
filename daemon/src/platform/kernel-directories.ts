/**
 * Directories for kernels, each for one account alone and with one file that it finds there. They stand in a directory
 * of ours that lets others pass and lists nothing, so that nobody can put a link in the place of one.
 */
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  existsSync,
  fchownSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { isOurs, makePassable } from './script-directory.ts';

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

export class KernelDirectories {
  #path: string | null = null;

  constructor(
    /** Where the name of the directory around them is kept for the next daemon. */
    private readonly notePath: string,
    private readonly fileName: string,
    /** Bytes of a path, because those of sockets are short. */
    private readonly mostBytes: number,
    private readonly onFault: (what: string, error: unknown) => void,
  ) {}

  /** Takes over those of an earlier daemon, without the ones that are not to be kept. */
  recover(kept: ReadonlySet<string>): void {
    if (!existsSync(this.notePath)) return;
    const path = readFileSync(this.notePath, 'utf8');
    if (!isOurs(path)) return;
    this.#path = path;
    for (const one of readdirSync(path).map((name) => `${path}/${name}`)) if (!kept.has(one)) this.remove(one);
  }

  /** Makes one with its file, whose text knows its path. Throws the system's error. */
  make(owner: Owner | null, text: (path: string) => string): string {
    const path = `${this.#open()}/${randomBytes(4).toString('hex')}`;
    mkdirSync(path, { mode: 0o700 });
    try {
      // Before it belongs to the account: what that puts there can be in nobody's way.
      writeOwned(`${path}/${this.fileName}`, text(path), owner);
      if (owner) chownSync(path, owner.uid, owner.gid);
      return path;
    } catch (error) {
      this.remove(path);
      throw error;
    }
  }

  /** With its files. */
  remove(path: string): void {
    try {
      // From now on nobody changes what is in it while it is looked at.
      if (process.getuid?.() === 0) chownSync(path, 0, 0);
      for (const entry of readdirSync(path, { withFileTypes: true })) {
        if (!entry.isDirectory()) unlinkSync(`${path}/${entry.name}`);
      }
      rmdirSync(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.onFault(`the directory of a kernel: ${path}`, error);
    }
  }

  /** With everything in it. */
  close(): void {
    const path = this.#path;
    if (path === null || !existsSync(path)) return;
    for (const name of readdirSync(path)) this.remove(`${path}/${name}`);
    rmSync(this.notePath, { force: true });
    this.#path = null;
    try {
      rmdirSync(path);
    } catch (error) {
      this.onFault(`the directories of kernels: ${path}`, error);
    }
  }

  #open(): string {
    if (this.#path !== null && existsSync(this.#path)) return this.#path;
    this.#path = makePassable(this.mostBytes);
    writeFileSync(this.notePath, this.#path, { mode: 0o600 });
    return this.#path;
  }
}

/** Its account may write it again, as ipykernel does. */
function writeOwned(path: string, text: string, owner: Owner | null): void {
  const fd = openSync(path, 'wx', 0o600);
  try {
    if (owner) fchownSync(fd, owner.uid, owner.gid);
    writeFileSync(fd, text);
  } finally {
    closeSync(fd);
  }
}
