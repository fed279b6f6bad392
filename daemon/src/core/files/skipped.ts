/** The directories that a walk could not read: the first of them by name, and how many. */
import type { Skipped } from './walk.ts';

export interface SkippedSummary {
  readonly skipped: readonly Skipped[];
  readonly skippedCount: number;
}

const mostNamed = 100;

export class SkippedList {
  readonly #named: Skipped[] = [];
  #count = 0;

  add(skipped: Skipped): void {
    this.#count += 1;
    if (this.#named.length < mostNamed) this.#named.push(skipped);
  }

  summary(): SkippedSummary {
    return { skipped: this.#named.toSorted((a, b) => (a.path < b.path ? -1 : 1)), skippedCount: this.#count };
  }
}
