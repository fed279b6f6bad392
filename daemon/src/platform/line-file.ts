/** A file of the daemon's own that grows line by line: each value is there whole, or it is not there. */
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
    /** Told when the file holds what was never added to it; it is put aside as `.bad`, and the daemon goes on without it. */
    private readonly onFault: (path: string, error: unknown) => void,
  ) {}

  /** What was added, in that order; nothing when nothing, or nothing readable, was kept. */
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

  /** Throws the system's error when they cannot be kept; the file is as before then. */
  append(values: readonly T[]): void {
    const descriptor = openSync(this.path, 'a', 0o600);
    try {
      appendWhole(descriptor, asLines(values));
    } finally {
      closeSync(descriptor);
    }
  }

  /** Keeps these and nothing else. Throws the system's error when they cannot be kept; the file is as before then. */
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

  /** A line that a loss of power cut off was not added, and the next one must not go on in it. */
  #wholeLines(): string {
    const bytes = readFileSync(this.path);
    const wholeBytes = bytes.lastIndexOf('\n') + 1;
    if (wholeBytes < bytes.length) truncateSync(this.path, wholeBytes);
    return bytes.toString('utf8', 0, wholeBytes);
  }
}

/** A full disk may take the first half of it: that half goes again. */
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
