/** Empties and reuses directories of forgotten commands, because some file systems create files slowly. */
import { readdirSync, renameSync, unlinkSync } from 'node:fs';
import { mintId } from '../../kit/ids.ts';

/** Commands are forgotten about as often as they start, and one at a time. */
const maxSpare = 16;

export class SpareDirectories {
  readonly #paths: string[] = [];

  /** `commands`: the parent of all command directories. The spare ones are there too. */
  constructor(private readonly commands: string) {}

  /** A path that no command had before; its directory does not exist yet. */
  newPath(): string {
    return `${this.commands}/${mintId('run')}`;
  }

  /** A path that no command had before, of a directory with the note of a forgotten command; null when none is left. */
  take(): string | null {
    return this.#paths.pop() ?? null;
  }

  /**
   * Clears a directory without readers or writers and gives it a new name; false when the caller should remove it
   * instead. The keeper of the next command blanks the journal. Until then the directory has none, and looks like a
   * command that never started. The new name is given now, when no command waits for it.
   * `isBare`: the directory holds only its journal and its note.
   */
  keep(path: string, isBare: boolean): boolean {
    if (this.#paths.length >= maxSpare) return false;
    const spare = this.newPath();
    try {
      for (const file of isBare ? [] : readdirSync(path))
        if (file !== 'journal' && file !== 'meta.json') unlinkSync(`${path}/${file}`);
      renameSync(`${path}/journal`, `${path}/old-journal`);
      renameSync(path, spare);
    } catch {
      return false; // A file is missing, or the disk refuses the change. The directory can still be removed.
    }
    this.#paths.push(spare);
    return true;
  }
}
