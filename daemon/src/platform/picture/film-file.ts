/** The file of a film, which is cut back to its last whole piece when a write fails. */
import { closeSync, constants, fstatSync, ftruncateSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { getSystemErrorMap } from 'node:util';
import { CoreError } from '../../kit/errors.ts';

/** Replaces a file at the path, but no link: another account may have planted it in a shared directory. */
export function openFilmFile(path: string): FilmFile {
  if (!isAbsolute(path)) {
    throw new CoreError('bad_argument', `save_path ${path} is not absolute`, {
      hint: 'Pass a path that begins with /.',
    });
  }
  try {
    mkdirSync(dirname(path), { recursive: true });
    const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
    const descriptor = openSync(path, O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_WRONLY, 0o644);
    if (!fstatSync(descriptor).isFile()) {
      closeSync(descriptor);
      throw new Error('it is not a regular file');
    }
    ftruncateSync(descriptor, 0);
    return new FilmFile(path, descriptor);
  } catch (error) {
    throw refusal(path, error);
  }
}

export class FilmFile {
  #bytes = 0;
  #isOpen = true;
  #isRemoved = false;

  constructor(
    readonly path: string,
    private readonly descriptor: number,
  ) {}

  /** Whole pieces only. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether the file had no name any more at the last piece or at the close. */
  get isRemoved(): boolean {
    return this.#isRemoved;
  }

  /** Appends all of the piece, or nothing and throws. */
  append(piece: Uint8Array): void {
    this.#look();
    if (this.#isRemoved) {
      throw new CoreError('bad_argument', `${this.path} was removed`, {
        hint: 'Record again, and keep the file until the recording is stopped.',
      });
    }
    try {
      for (let at = 0; at < piece.length;) {
        at += writeSync(this.descriptor, piece, at, piece.length - at, this.#bytes + at);
      }
      this.#bytes += piece.length;
    } catch (error) {
      ftruncateSync(this.descriptor, this.#bytes);
      throw refusal(this.path, error);
    }
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#look();
    closeSync(this.descriptor);
    this.#isOpen = false;
  }

  /** For a film that has not begun. */
  remove(): void {
    this.close();
    rmSync(this.path, { force: true });
  }

  /** A file that was moved still has a name. */
  #look(): void {
    this.#isRemoved = fstatSync(this.descriptor).nlink === 0;
  }
}

function refusal(path: string, error: unknown): CoreError {
  const { code, errno, message } = error as NodeJS.ErrnoException;
  const text = (errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1]) ?? message;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new CoreError('no_space_left', `${path}: ${text}`, {
      hint: 'Free space, or record to another file system.',
    });
  }
  return new CoreError('bad_argument', `save_path ${path}: ${text}`, {
    hint: 'Pass the path of a file that the worker may write.',
  });
}
