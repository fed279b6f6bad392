/** Stores the records of one plane in a file, so that the next daemon continues with them. */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Ownership } from '../../kit/ownership.ts';

export interface RecordStoreDeps {
  readonly path: string;
  /** Names the records in a reported fault. */
  readonly what: string;
  /** Once the processes are left to another daemon, only that daemon writes the file. */
  readonly ownership: Ownership;
  readonly onFault: (what: string, error: unknown) => void;
}

/** A crash may lose the changes of this time that were saved with `saveSoon`. */
const saveWithinMs = 1000;
/** The format of the file. Daemons before the first version wrote the bare list of records. */
const version = 1;

interface StoredRecords<T> {
  readonly version: number;
  readonly records: readonly T[];
}

export class RecordStore<T> {
  /** null before `open`, when the file still belongs to an earlier daemon. */
  #current: (() => readonly T[]) | null = null;
  #saving: ReturnType<typeof setTimeout> | null = null;

  constructor(private readonly deps: RecordStoreDeps) {}

  /**
   * Returns the stored records; none when nothing, or nothing readable, was stored. From now on, saves store what
   * `current` returns. Called once, when no other daemon writes the file any more.
   */
  open(current: () => readonly T[]): readonly T[] {
    this.#current = current;
    const { path, onFault } = this.deps;
    if (!existsSync(path)) return [];
    try {
      return this.#read();
    } catch (error) {
      onFault(path, error);
      renameSync(path, `${path}.bad`);
      return [];
    }
  }

  /** Saves within a second, so that many changes cost one write. */
  saveSoon(): void {
    this.#saving ??= setTimeout(() => this.save(), saveWithinMs);
  }

  /** Saves at once, for a change that must survive a crash of the daemon. Reports a failure to `onFault`. */
  save(): void {
    if (this.#saving) clearTimeout(this.#saving);
    this.#saving = null;
    try {
      if (this.#current) this.write(this.#current());
    } catch (error) {
      this.deps.onFault(`${this.deps.what} could not be written`, error);
    }
  }

  /** Throws the system's error when the records cannot be stored; the old content then stays. */
  write(records: readonly T[]): void {
    if (this.deps.ownership.isLeft) return;
    const next = `${this.deps.path}.next`;
    const descriptor = openSync(next, 'w', 0o600);
    try {
      writeFileSync(descriptor, JSON.stringify({ version, records } satisfies StoredRecords<T>));
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(next, this.deps.path);
  }

  /** Writes pending changes. */
  flush(): void {
    if (this.#saving) this.save();
  }
  #read(): readonly T[] {
    const stored: unknown = JSON.parse(readFileSync(this.deps.path, 'utf8'));
    const file = (Array.isArray(stored) ? { version, records: stored } : stored) as StoredRecords<T>;
    if (file.version !== version) throw new Error(`version ${file.version} of the file is unknown`);
    return file.records;
  }
}
