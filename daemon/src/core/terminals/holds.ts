/** Keeps a program from showing more while somebody who is to miss nothing cannot follow. */
import type { Child } from '../../platform/spawn.ts';

export class Holds {
  readonly #holders = new Set<object>();
  #child: Child | null = null;

  get isHeld(): boolean {
    return this.#holders.size > 0;
  }

  /** The process whose output is held. */
  apply(child: Child): void {
    this.#child = child;
    if (this.isHeld) child.pause();
  }

  hold(holder: object): void {
    if (this.#holders.has(holder)) return;
    this.#holders.add(holder);
    if (this.#holders.size === 1) this.#child?.pause();
  }

  release(holder: object): void {
    if (this.#holders.delete(holder) && !this.isHeld) this.#child?.resume();
  }
}
