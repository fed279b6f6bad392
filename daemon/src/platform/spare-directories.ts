/** Directories of forgotten commands, emptied for those to come: some file systems are slow at making new files. */
import { mkdirSync, readdirSync, renameSync, truncateSync, unlinkSync } from 'node:fs';
import { basename } from 'node:path';

/** Commands are forgotten about as often as they start, and one by one. */
const mostSpare = 16;

export class SpareDirectories {
  readonly #names: string[];

  /** What an earlier daemon has put there is used too. */
  constructor(private readonly path: string) {
    mkdirSync(path, { mode: 0o700, recursive: true });
    this.#names = readdirSync(path);
  }

  /** Moves one to where a command wants it, with an empty note; false when there is none. */
  take(path: string): boolean {
    const name = this.#names.pop();
    if (name === undefined) return false;
    try {
      renameSync(`${this.path}/${name}`, path);
      return true;
    } catch {
      return false; // During an upgrade the other daemon was quicker; making a new one is always possible.
    }
  }

  /**
   * Empties a directory that nobody reads or writes any more, and moves it here; false when it is to be removed
   * instead. The journal goes under another name before its content does: without one, what a death of the daemon
   * leaves behind is a command that was never started.
   */
  keep(path: string): boolean {
    if (this.#names.length >= mostSpare) return false;
    try {
      for (const file of readdirSync(path))
        if (file !== 'journal' && file !== 'meta.json') unlinkSync(`${path}/${file}`);
      renameSync(`${path}/journal`, `${path}/spare-journal`);
      for (const file of ['spare-journal', 'meta.json']) truncateSync(`${path}/${file}`);
      renameSync(path, `${this.path}/${basename(path)}`);
    } catch {
      return false; // Something is missing, or the disk does not want to; it can still be removed.
    }
    this.#names.push(basename(path));
    return true;
  }
}
