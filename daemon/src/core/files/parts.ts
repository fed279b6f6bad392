/**
 * Manages parts: files that are staged under a hidden name beside their target. A note in the runtime directory records
 * each part, so that the next daemon can remove the parts of a dead daemon.
 */
import { existsSync, promises as fs, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path/posix';
import { randomBytes } from '../../kit/crypto.ts';
import { errnoOf } from '../../kit/errno.ts';
import type { FileOperation } from '../../kit/file-failure.ts';
import { once } from '../../kit/once.ts';
import { decodePath, systemPath } from '../../kit/text/path-text.ts';
import { removeAny, type EntryName } from './tree/remove-tree.ts';
import type { OpenDirectory } from './open-directory.ts';

export interface Part {
  /** `.svc-write-<id>.part` (contract, Files). */
  readonly name: string;
  /** Call after the part has moved to its target or has been removed. */
  done(): Promise<void>;
}

const namePattern = /^\.svc-write-[0-9a-f]{16}\.part$/;

/** Errors that mean the runtime directory is full, or that the path is too long for a link. */
const withoutNote = new Set(['ENOSPC', 'EDQUOT', 'ENAMETOOLONG']);

export class Parts {
  #isMade = false;

  /** A note is a symbolic link `<owner>-<id>` to the part, because one call creates a link completely. */
  constructor(
    private readonly notesDirectory: string,
    private readonly openDirectory: OpenDirectory,
  ) {}

  /** Writes the note for a part that the caller will create in this directory. */
  async add(directory: string): Promise<Part> {
    await this.#make();
    const id = randomBytes(8).toString('hex');
    const name = `.svc-write-${id}.part`;
    const note = `${this.notesDirectory}/${ownMark()}-${id}`;
    try {
      await fs.symlink(systemPath(`${directory}/${name}`), note);
    } catch (error) {
      // The write itself needs no space in the runtime directory and continues without a note. The part stays behind
      // only if the daemon dies during the write.
      if (!withoutNote.has(errnoOf(error) ?? '')) throw error;
      return { name, done: async () => undefined };
    }
    return { name, done: () => fs.unlink(note) };
  }

  /** An unnamed file for content that cannot be staged beside its target. */
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

  /** Removes the parts of dead daemons, but not of one that still finishes requests. Throws the first failure. */
  async clearStale(): Promise<void> {
    // Read the notes synchronously, before this daemon can add notes of its own.
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
        failures.push(error); // The next start tries again. The other parts are still removed.
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  /** The name check protects other files if a link in the path has changed. */
  async #removePart(path: string): Promise<void> {
    if (!namePattern.test(basename(path))) return;
    try {
      await using directory = await this.openDirectory(dirname(path));
      await removeAny({ directory, name: basename(path) }, 'delete');
    } catch (error) {
      // The directory no longer exists, and neither does the part.
      if (errnoOf(error) !== 'ENOENT' && errnoOf(error) !== 'ENOTDIR') throw error;
    }
  }
}

/** Attempts to remove a part whose entries another process removes at the same time. */
const maxRemovals = 8;

/** Removes the part, then its note. The note of a part that cannot be removed stays for the next daemon. */
export async function clearPart(place: EntryName, part: Part, operation: FileOperation): Promise<void> {
  for (let removals = 0; removals < maxRemovals; removals++) {
    // The caller reports the failure that caused the cleanup.
    const failure: unknown = await removeAny(place, operation).catch((error: unknown) => error);
    if (!(await place.directory.find(place.name))) return await part.done();
    if (errnoOf(failure) !== 'ENOENT') return;
  }
}

const ownMark = once(() => markOf(String(process.pid)));

/** Identifies a process as `<pid>.<start time>`, because the kernel reuses process ids. */
function markOf(pid: string): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program name in parentheses may contain any character. The start time is the 20th field after it.
    return `${pid}.${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''}`;
  } catch {
    return ''; // The process has ended.
  }
}
