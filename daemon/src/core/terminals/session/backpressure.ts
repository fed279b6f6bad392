/** Pauses the output of a program while a client that must not miss output is behind. */
import type { ShellProcess } from '../backends/shell-process.ts';

export class Backpressure {
  readonly #holders = new Set<object>();
  #process: ShellProcess | null = null;

  get isHeld(): boolean {
    return this.#holders.size > 0;
  }

  /** Sets the process whose output is paused. */
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
