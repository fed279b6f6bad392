/**
 * Small values, a file each, that have to outlive the daemon and not the machine: nothing waits for a disk. A file is
 * written over where it is: to make a new one for each value is to wait for the journal of the file system, again and
 * again, while somebody else writes.
 */
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';

/** A file that is larger is made anew. */
const mostKeptBytes = 4096;
const blank = 0x20;
const newline = 0x0a;

export class NoteFiles<T> {
  constructor(
    private readonly directory: string,
    private readonly onFault: (path: string, error: unknown) => void,
  ) {}

  /** Null when there is none, or none that can be read. The key is a file name. */
  load(key: string): T | null {
    try {
      const text = readFileSync(this.#path(key), 'utf8');
      return text.trim() === '' ? null : (JSON.parse(text) as T);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.onFault(this.#path(key), error);
      return null;
    }
  }

  /** Throws the system's error; no value can be read then. */
  save(key: string, value: T): void {
    const bytes = Buffer.from(JSON.stringify(value));
    if (!this.#writeOver(key, bytes)) this.#make(key, bytes);
  }

  /** There is no value any more, and there is soon to be another one. */
  clear(key: string): void {
    if (!this.#writeOver(key, Buffer.alloc(0))) this.remove(key);
  }

  remove(key: string): void {
    rmSync(this.#path(key), { force: true });
  }

  #path(key: string): string {
    return `${this.directory}/${key}`;
  }

  /** Blanks take the place of what is left of the old value. False where a file has to be made. */
  #writeOver(key: string, bytes: Uint8Array): boolean {
    const descriptor = openIfPresent(this.#path(key));
    if (descriptor === null) return false;
    try {
      const { size } = fstatSync(descriptor);
      if (size > mostKeptBytes) return false;
      const whole = Buffer.alloc(Math.max(size, bytes.length + 1), blank);
      whole.set(bytes);
      whole[whole.length - 1] = newline;
      writeWhole(descriptor, whole);
      return true;
    } finally {
      closeSync(descriptor);
    }
  }

  #make(key: string, bytes: Uint8Array): void {
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    this.remove(key);
    const descriptor = openSync(this.#path(key), 'wx', 0o600);
    try {
      writeWhole(descriptor, bytes);
    } finally {
      closeSync(descriptor);
    }
  }
}

function openIfPresent(path: string): number | null {
  try {
    return openSync(path, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** A file system takes all that it has room for at once. */
function writeWhole(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at, bytes.length - at, at);
}
