/**
 * Small values, one file each, that outlive the daemon but not a crash of the machine, so nothing is synced.
 * Files are overwritten in place. A new file for each value would wait for the journal of the file system whenever
 * other processes write.
 */
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { errnoOf, nullOnNow } from '../../kit/errno.ts';

/** A larger file is replaced, not overwritten. */
const maxKeptBytes = 4096;
const blank = 0x20;
const newline = 0x0a;

export class NoteFiles<T> {
  constructor(
    private readonly directory: string,
    private readonly onFault: (path: string, error: unknown) => void,
  ) {}

  /** Null when no value, or no readable value, exists. The key is a file name. */
  load(key: string): T | null {
    try {
      const text = readFileSync(this.#path(key), 'utf8');
      return text.trim() === '' ? null : (JSON.parse(text) as T);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') this.onFault(this.#path(key), error);
      return null;
    }
  }

  /** Throws the system's error; then no value can be read. */
  save(key: string, value: T): void {
    this.saveJson(key, [Buffer.from(JSON.stringify(value))]);
  }

  /** Like `save`, for a value that is already encoded, in pieces. */
  saveJson(key: string, pieces: readonly Uint8Array[]): void {
    if (!this.#writeOver(key, pieces)) this.#make(key, pieces);
  }

  /** Removes the value but keeps the file, because another value follows soon. */
  clear(key: string): void {
    if (!this.#writeOver(key, [])) this.remove(key);
  }

  remove(key: string): void {
    rmSync(this.#path(key), { force: true });
  }

  #path(key: string): string {
    return `${this.directory}/${key}`;
  }

  /** Fills the rest of the old value with blanks. False when a new file is needed. */
  #writeOver(key: string, pieces: readonly Uint8Array[]): boolean {
    const descriptor = nullOnNow('ENOENT', () => openSync(this.#path(key), 'r+'));
    if (descriptor === null) return false;
    try {
      const { size } = fstatSync(descriptor);
      if (size > maxKeptBytes || lengthOf(pieces) > maxKeptBytes) return false;
      const bytes = Buffer.concat(pieces);
      const whole = Buffer.alloc(Math.max(size, bytes.length + 1), blank);
      whole.set(bytes);
      whole[whole.length - 1] = newline;
      writeWhole(descriptor, whole);
      return true;
    } finally {
      closeSync(descriptor);
    }
  }

  #make(key: string, pieces: readonly Uint8Array[]): void {
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    this.remove(key);
    const descriptor = openSync(this.#path(key), 'wx', 0o600);
    try {
      for (const piece of pieces) writeWhole(descriptor, piece);
    } finally {
      closeSync(descriptor);
    }
  }
}

/** Writes behind what was written last until all bytes are written; a full file system may accept only a part of them. */
function writeWhole(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at, bytes.length - at);
}

function lengthOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}
