/** A small file of the daemon's own that is always whole: the old content or the new one, never half of it. */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

export class StateFile<T> {
  constructor(
    private readonly path: string,
    private readonly empty: T,
    /** Told when the file is not what `save` wrote; it is put aside as `.bad`, and the daemon goes on without it. */
    private readonly onFault: (path: string, error: unknown) => void,
  ) {}

  /** The kept value; the empty one when nothing, or nothing readable, was kept. */
  load(): T {
    if (!existsSync(this.path)) return this.empty;
    try {
      return JSON.parse(readFileSync(this.path, 'utf8')) as T;
    } catch (error) {
      this.onFault(this.path, error);
      renameSync(this.path, `${this.path}.bad`);
      return this.empty;
    }
  }

  /** Throws the system's error when it cannot be kept; the old content stays then. */
  save(value: T): void {
    const next = `${this.path}.next`;
    const descriptor = openSync(next, 'w', 0o600);
    try {
      writeFileSync(descriptor, JSON.stringify(value));
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(next, this.path);
  }
}
