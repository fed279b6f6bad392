/**
 * Files that are being written, under a hidden name beside their target, and the note of each in the runtime directory
 * by which the next daemon finds and clears those that a dead one left.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, promises as fs, readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path/posix';
import { decodePath, systemPath } from '../../kit/path-text.ts';

export interface Part {
  /** `.svc-write-<id>.part` (contract, Files). */
  readonly name: string;
  /** It is in its place, or gone. */
  done(): Promise<void>;
}

const namePattern = /^\.svc-write-[0-9a-f]{16}\.part$/;

export class Parts {
  #isMade: Promise<unknown> | null = null;

  /** A note is a link `<pid>-<id>` to the part: one call makes it whole. */
  constructor(private readonly notesDirectory: string) {}

  /** Notes a part to be made in this directory. */
  async add(directory: string): Promise<Part> {
    await this.#make();
    const id = randomBytes(8).toString('hex');
    const name = `.svc-write-${id}.part`;
    const note = `${this.notesDirectory}/${process.pid}-${id}`;
    await fs.symlink(systemPath(`${directory}/${name}`), note);
    return { name, done: () => fs.unlink(note) };
  }

  /** A file without a name, to collect what cannot be written beside its target. */
  async spool(): Promise<fs.FileHandle> {
    await this.#make();
    const path = `${this.notesDirectory}/${process.pid}-${randomBytes(8).toString('hex')}.spool`;
    const file = await fs.open(path, 'wx+', 0o600);
    await fs.unlink(path);
    return file;
  }

  #make(): Promise<unknown> {
    return (this.#isMade ??= fs.mkdir(this.notesDirectory, { recursive: true, mode: 0o700 }));
  }

  /** Removes the parts of daemons that are gone; one that still ends its requests keeps its own. */
  async clearStale(): Promise<void> {
    // Read before the first wait: what this daemon adds is not among them.
    const notes = existsSync(this.notesDirectory) ? readdirSync(this.notesDirectory) : [];
    for (const note of notes) {
      const pid = note.split('-', 1)[0] ?? '';
      if (pid !== String(process.pid) && existsSync(`/proc/${pid}`)) continue;
      const at = `${this.notesDirectory}/${note}`;
      if (!note.endsWith('.spool')) await removePart(decodePath(await fs.readlink(at, 'buffer')));
      await fs.unlink(at);
    }
  }
}

/** A file, or the directory of an archive that was being unpacked; wherever links now lead, nothing by another name. */
async function removePart(path: string): Promise<void> {
  if (!namePattern.test(basename(path))) return;
  const directory = await fs.realpath(systemPath(dirname(path)), 'buffer').catch(() => null);
  if (directory === null) return; // Its directory has gone, and the part with it.
  await fs.rm(systemPath(`${decodePath(directory)}/${basename(path)}`), { recursive: true, force: true });
}
