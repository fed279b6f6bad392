/** Collects the directories that a walk could not read: their count, and the first names. */
import type { Skipped } from './walk.ts';

export interface SkippedSummary {
  readonly skipped: readonly Skipped[];
  readonly skippedCount: number;
}

const maxNamed = 100;

export class SkippedList {
  readonly #named: Skipped[] = [];
  #count = 0;

  add(skipped: Skipped): void {
    this.#count += 1;
    if (this.#named.length < maxNamed) this.#named.push(skipped);
  }

  summary(): SkippedSummary {
    return { skipped: this.#named.toSorted((a, b) => (a.path < b.path ? -1 : 1)), skippedCount: this.#count };
  }
}
