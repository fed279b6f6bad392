/** Collects what a walk leaves out: the directories that it could not read, by name, and the rest by number. */

/** A directory that could not be read. */
export interface Skipped {
  readonly path: string;
  readonly errnoName: string;
}

export interface SkippedSummary {
  readonly skipped: readonly Skipped[];
  readonly skippedCount: number;
  /** Number of entries that ignore files exclude; what is below them is not counted. */
  readonly ignoredCount: number;
  /** Number of hidden names that were left out; what is below them is not counted. */
  readonly hiddenCount: number;
  /** Number of links to directories that a walk does not enter. */
  readonly linkCount: number;
}

const maxNamed = 100;

export class SkippedList {
  readonly #named: Skipped[] = [];
  #count = 0;
  ignoredCount = 0;
  hiddenCount = 0;
  linkCount = 0;

  add(skipped: Skipped): void {
    this.#count += 1;
    if (this.#named.length < maxNamed) this.#named.push(skipped);
  }

  summary(): SkippedSummary {
    const { ignoredCount, hiddenCount, linkCount } = this;
    const skipped = this.#named.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    return { skipped, skippedCount: this.#count, ignoredCount, hiddenCount, linkCount };
  }
}
