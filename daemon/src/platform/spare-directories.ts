/** Empties and reuses directories of forgotten commands, because some file systems create files slowly. */
import { closeSync, fstatSync, mkdirSync, openSync, readdirSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { basename } from 'node:path';

/** Commands are forgotten about as often as they start, and one at a time. */
const maxSpare = 16;

export class SpareDirectories {
  readonly #names: string[];

  /** Also uses the directories that an earlier daemon left. */
  constructor(private readonly path: string) {
    mkdirSync(path, { mode: 0o700, recursive: true });
    this.#names = readdirSync(path);
  }

  /** Moves a spare directory with an empty note to the given path; false when none is left. */
  take(path: string): boolean {
    const name = this.#names.pop();
    if (name === undefined) return false;
    try {
      renameSync(`${this.path}/${name}`, path);
      return true;
    } catch {
      return false; // During an upgrade the other daemon was faster. The caller can always create a new directory.
    }
  }

  /**
   * Blanks a directory without readers or writers and moves it here; false when the caller should remove it instead.
   * The journal is renamed before it is blanked. If the daemon dies in between, the directory has no journal and looks
   * like a command that never started.
   * `isBare`: the directory holds only its journal and its note.
   */
  keep(path: string, isBare: boolean): boolean {
    if (this.#names.length >= maxSpare) return false;
    try {
      for (const file of isBare ? [] : readdirSync(path))
        if (file !== 'journal' && file !== 'meta.json') unlinkSync(`${path}/${file}`);
      renameSync(`${path}/journal`, `${path}/spare-journal`);
      for (const file of ['spare-journal', 'meta.json']) blank(`${path}/${file}`);
      renameSync(path, `${this.path}/${basename(path)}`);
    } catch {
      return false; // A file is missing, or the disk refuses the change. The directory can still be removed.
    }
    this.#names.push(basename(path));
    return true;
  }
}

/** Some file systems write a file to the disk at once when it is filled again after a truncation. */
const maxBlankBytes = 64 * 1024;
const blanks = Buffer.alloc(maxBlankBytes, '\n');

/** Replaces the content with empty lines, which readers of journals and notes skip. The file keeps its blocks. */
function blank(path: string): void {
  const file = openSync(path, 'r+');
  try {
    const { size } = fstatSync(file);
    if (size > maxBlankBytes) throw new Error(`${path} is too large to be reused`);
    if (writeSync(file, blanks, 0, size, 0) !== size) throw new Error(`${path} could not be blanked`);
  } finally {
    closeSync(file);
  }
}
