/**
 * Files that are being written, under a hidden name beside their target, and the note of each in the runtime directory
 * by which the next daemon finds and clears those that a dead one left.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, promises as fs, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path/posix';
import { errnoOf } from '../../kit/file-failure.ts';
import { once } from '../../kit/once.ts';
import { decodePath, systemPath } from '../../kit/path-text.ts';
import { removeAny } from './remove-tree.ts';
import type { OpenDirectory } from './target.ts';

export interface Part {
  /** `.svc-write-<id>.part` (contract, Files). */
  readonly name: string;
  /** It is in its place, or gone. */
  done(): Promise<void>;
}

const namePattern = /^\.svc-write-[0-9a-f]{16}\.part$/;

/** Of a full runtime directory, and of a path that is too long for a link. */
const withoutNote = new Set(['ENOSPC', 'EDQUOT', 'ENAMETOOLONG']);

export class Parts {
  #isMade = false;

  /** A note is a link `<owner>-<id>` to the part: one call makes it whole. */
  constructor(
    private readonly notesDirectory: string,
    private readonly openDirectory: OpenDirectory,
  ) {}

  /** Notes a part to be made in this directory. */
  async add(directory: string): Promise<Part> {
    await this.#make();
    const id = randomBytes(8).toString('hex');
    const name = `.svc-write-${id}.part`;
    const note = `${this.notesDirectory}/${ownMark()}-${id}`;
    try {
      await fs.symlink(systemPath(`${directory}/${name}`), note);
    } catch (error) {
      // It is work at another place, which needs no room here; only a death right now would leave the part there.
      if (!withoutNote.has(errnoOf(error) ?? '')) throw error;
      return { name, done: async () => undefined };
    }
    return { name, done: () => fs.unlink(note) };
  }

  /** A file without a name, to collect what cannot be written beside its target. */
  async spool(): Promise<fs.FileHandle> {
    await this.#make();
    const path = `${this.notesDirectory}/${ownMark()}-${randomBytes(8).toString('hex')}.spool`;
    const file = await fs.open(path, 'wx+', 0o600);
    await fs.unlink(path);
    return file;
  }

  async #make(): Promise<void> {
    if (this.#isMade) return;
    await fs.mkdir(this.notesDirectory, { recursive: true, mode: 0o700 });
    this.#isMade = true;
  }

  /** Removes the parts of daemons that are gone; one that still ends its requests keeps its own. Throws the first failure. */
  async clearStale(): Promise<void> {
    // Read before the first wait: what this daemon adds is not among them.
    const notes = existsSync(this.notesDirectory) ? readdirSync(this.notesDirectory) : [];
    const failures: unknown[] = [];
    for (const note of notes) {
      const mark = note.split('-', 1)[0] ?? '';
      if (mark !== ownMark() && mark === markOf(mark.split('.', 1)[0] ?? '')) continue;
      const at = `${this.notesDirectory}/${note}`;
      try {
        if (!note.endsWith('.spool')) await this.#removePart(decodePath(await fs.readlink(at, 'buffer')));
        await fs.unlink(at);
      } catch (error) {
        failures.push(error); // It is tried again with the next start, and keeps none of the others.
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  /** A file, or a tree that was being made or removed; wherever links now lead, nothing by another name. */
  async #removePart(path: string): Promise<void> {
    if (!namePattern.test(basename(path))) return;
    try {
      await using directory = await this.openDirectory(dirname(path));
      await removeAny({ directory, name: basename(path) }, 'delete');
    } catch (error) {
      // Its directory has gone, and the part with it.
      if (errnoOf(error) !== 'ENOENT' && errnoOf(error) !== 'ENOTDIR') throw error;
    }
  }
}

const ownMark = once(() => markOf(String(process.pid)));

/** Tells one process from a later one that was given the same number: `<pid>.<start time>`. */
function markOf(pid: string): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may hold anything; the start time is the 20th field behind it.
    return `${pid}.${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''}`;
  } catch {
    return ''; // It has ended.
  }
}
