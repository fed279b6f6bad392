/** Small values, a file each, that have to outlive the daemon and not the machine: nothing waits for a disk. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

export class NoteFiles<T> {
  constructor(
    private readonly directory: string,
    private readonly onFault: (path: string, error: unknown) => void,
  ) {}

  /** Null when there is none, or none that can be read. The key is a file name. */
  load(key: string): T | null {
    try {
      return JSON.parse(readFileSync(`${this.directory}/${key}`, 'utf8')) as T;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.onFault(`${this.directory}/${key}`, error);
      return null;
    }
  }

  /** Throws the system's error; the old value stays then. */
  save(key: string, value: T): void {
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    const next = `${this.directory}/.next`;
    writeFileSync(next, JSON.stringify(value), { mode: 0o600 });
    renameSync(next, `${this.directory}/${key}`);
  }

  remove(key: string): void {
    rmSync(`${this.directory}/${key}`, { force: true });
  }
}
