/** Keeps a program from showing more while somebody who is to miss nothing cannot follow. */
import type { ShellProcess } from './shell-process.ts';

export class Holds {
  readonly #holders = new Set<object>();
  #process: ShellProcess | null = null;

  get isHeld(): boolean {
    return this.#holders.size > 0;
  }

  /** The process whose output is held. */
  apply(process: ShellProcess): void {
    this.#process = process;
    if (this.isHeld) process.pause();
  }

  has(holder: object): boolean {
    return this.#holders.has(holder);
  }

  hold(holder: object): void {
    if (this.#holders.has(holder)) return;
    this.#holders.add(holder);
    if (this.#holders.size === 1) this.#process?.pause();
  }

  release(holder: object): void {
    if (this.#holders.delete(holder) && !this.isHeld) this.#process?.resume();
  }
}
