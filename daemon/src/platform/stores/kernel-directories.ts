/**
 * Makes directories for kernels. Each belongs to one account and holds one file for the kernel.
 * They stand in a directory of the daemon that other accounts can traverse but not list or change. No account can
 * therefore replace one with a symbolic link.
 */
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { randomBytes } from '../../kit/crypto.ts';
import { errnoOf } from '../../kit/errno.ts';
import type { Owner } from '../../kit/types/owner.ts';
import { isOurs, makePassable, writeOwned } from './script-directory.ts';

export class KernelDirectories {
  #path: string | null = null;

  constructor(
    /** The file that keeps the name of the enclosing directory for the next daemon. */
    private readonly notePath: string,
    private readonly fileName: string,
    /** Maximum length of a path in bytes, because socket paths are short. */
    private readonly maxBytes: number,
    private readonly onFault: (what: string, error: unknown) => void,
  ) {}

  /** Takes over the directories of an earlier daemon, and removes those that are not in `kept`. */
  recover(kept: ReadonlySet<string>): void {
    if (!existsSync(this.notePath)) return;
    const path = readFileSync(this.notePath, 'utf8');
    if (!isOurs(path)) return;
    this.#path = path;
    for (const one of readdirSync(path).map((name) => `${path}/${name}`)) if (!kept.has(one)) this.remove(one);
  }

  /** Makes a directory with its file, whose text is computed from the path. Throws the system's error. */
  make(owner: Owner | null, text: (path: string) => string): string {
    const path = `${this.#open()}/${randomBytes(4).toString('hex')}`;
    mkdirSync(path, { mode: 0o700 });
    try {
      // Written before the directory belongs to the account, so that nothing the account puts there can interfere.
      // The account may rewrite the file, as ipykernel does.
      writeOwned(`${path}/${this.fileName}`, text(path), owner);
      if (owner) chownSync(path, owner.uid, owner.gid);
      return path;
    } catch (error) {
      this.remove(path);
      throw error;
    }
  }

  /** Removes a directory with its files. */
  remove(path: string): void {
    try {
      // From now on the account cannot change the content during the removal.
      if (process.getuid?.() === 0) chownSync(path, 0, 0);
      for (const entry of readdirSync(path, { withFileTypes: true })) {
        if (!entry.isDirectory()) unlinkSync(`${path}/${entry.name}`);
      }
      rmdirSync(path);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') this.onFault(`the directory of a kernel: ${path}`, error);
    }
  }

  /** Removes the enclosing directory with its content. */
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
    this.#path = makePassable(this.maxBytes);
    writeFileSync(this.notePath, this.#path, { mode: 0o600 });
    return this.#path;
  }
}
