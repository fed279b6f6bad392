/** A file of the daemon that grows line by line; each value is stored completely or not at all. */
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';

export class LineFile<T> {
  constructor(
    private readonly path: string,
    /** A file with content that `append` never wrote is set aside as `.bad`. */
    private readonly onFault: (path: string, error: unknown) => void,
  ) {}

  /** The stored values in order; empty when nothing, or nothing readable, was stored. */
  load(): readonly T[] {
    if (!existsSync(this.path)) return [];
    try {
      return parseLines<T>(this.#wholeLines());
    } catch (error) {
      this.onFault(this.path, error);
      renameSync(this.path, `${this.path}.bad`);
      return [];
    }
  }

  /** Throws the system's error when the values cannot be stored; the file then stays as it was. */
  append(values: readonly T[]): void {
    const descriptor = openSync(this.path, 'a', 0o600);
    try {
      appendWhole(descriptor, asLines(values));
    } finally {
      closeSync(descriptor);
    }
  }

  /** Replaces the content. Throws the system's error when it cannot be stored; the file then stays as it was. */
  replace(values: readonly T[]): void {
    const next = `${this.path}.next`;
    const descriptor = openSync(next, 'w', 0o600);
    try {
      writeFileSync(descriptor, asLines(values));
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(next, this.path);
  }

  /** Cuts off a last line that a loss of power interrupted, so that the next line does not continue it. */
  #wholeLines(): string {
    const bytes = readFileSync(this.path);
    const wholeBytes = bytes.lastIndexOf('\n') + 1;
    if (wholeBytes < bytes.length) truncateSync(this.path, wholeBytes);
    return bytes.toString('utf8', 0, wholeBytes);
  }
}

/** Removes a partial write again: a full disk may accept only the first half. */
function appendWhole(descriptor: number, text: string): void {
  const { size } = fstatSync(descriptor);
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } catch (error) {
    ftruncateSync(descriptor, size);
    throw error;
  }
}

function asLines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

function parseLines<T>(text: string): T[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}
