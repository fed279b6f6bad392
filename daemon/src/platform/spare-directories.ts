/** Empties and reuses directories of forgotten commands, because some file systems create files slowly. */
import { closeSync, fstatSync, openSync, readdirSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { mintId } from '../kit/ids.ts';

/** Commands are forgotten about as often as they start, and one at a time. */
const maxSpare = 16;

export class SpareDirectories {
  readonly #paths: string[] = [];

  /** `commands`: the parent of all command directories. The spare ones are there too, and have empty notes. */
  constructor(private readonly commands: string) {}

  /** A path that no command had before; its directory does not exist yet. */
  newPath(): string {
    return `${this.commands}/${mintId('run')}`;
  }

  /** The path of a directory with an empty note, which no command had before; null when none is left. */
  take(): string | null {
    return this.#paths.pop() ?? null;
  }

  /**
   * Blanks a directory without readers or writers and gives it a new name; false when the caller should remove it
   * instead. The journal is renamed before it is blanked. If the daemon dies in between, the directory has no journal
   * and looks like a command that never started. The new name is given now, when no command waits for it.
   * `isBare`: the directory holds only its journal and its note.
   */
  keep(path: string, isBare: boolean): boolean {
    if (this.#paths.length >= maxSpare) return false;
    const spare = this.newPath();
    try {
      for (const file of isBare ? [] : readdirSync(path))
        if (file !== 'journal' && file !== 'meta.json') unlinkSync(`${path}/${file}`);
      renameSync(`${path}/journal`, `${path}/spare-journal`);
      for (const file of ['spare-journal', 'meta.json']) blank(`${path}/${file}`);
      renameSync(path, spare);
    } catch {
      return false; // A file is missing, or the disk refuses the change. The directory can still be removed.
    }
    this.#paths.push(spare);
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
