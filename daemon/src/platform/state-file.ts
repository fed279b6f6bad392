/** A small file of the daemon's own that is always whole: the old content or the new one, never half of it. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

export class StateFile<T> {
  constructor(
    private readonly path: string,
    private readonly empty: T,
  ) {}

  /** The kept value; the empty one when nothing was kept. Throws when the file is not what `save` wrote. */
  load(): T {
    return existsSync(this.path) ? (JSON.parse(readFileSync(this.path, 'utf8')) as T) : this.empty;
  }

  save(value: T): void {
    const next = `${this.path}.next`;
    writeFileSync(next, JSON.stringify(value), { mode: 0o600 });
    renameSync(next, this.path);
  }
}
