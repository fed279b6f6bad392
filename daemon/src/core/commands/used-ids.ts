/** Remembers caller-chosen ids after their command records are gone, so that each id starts at most one command. */
import type { LineFile } from '../../platform/stores/line-file.ts';

export interface UsedId {
  readonly id: string;
  readonly usedMs: number;
}

/** How many ids of evicted commands are kept. The oldest ids are dropped first. */
const keptIds = 10_000;
const keptMs = 24 * 3600 * 1000;

export class UsedIds {
  /** The time each id was used, oldest first. */
  readonly #usedMs = new Map<string, number>();
  /** Number of ids in the store, including dropped ones, and the number at which the store is rewritten. */
  #stored = 0;
  #maxStored = 2 * keptIds;

  constructor(
    private readonly store: LineFile<UsedId>,
    private readonly now: () => number,
    /** Called when the store cannot be rewritten and therefore keeps growing. */
    private readonly onFault: (what: string, error: unknown) => void,
  ) {}

  /** Loads the stored ids. Called once, when no other daemon writes the store any more. */
  load(): void {
    const stored = this.store.load();
    this.#stored = stored.length;
    for (const used of stored) this.#remember(used);
    this.#forgetOld();
  }

  has(id: string): boolean {
    return this.#usedMs.has(id);
  }

  /** Adds new ids and drops old ones. Throws the system's error if the ids cannot be stored. */
  add(ids: readonly string[]): void {
    if (ids.length === 0) return;
    const usedMs = this.now();
    const added = ids.map((id) => ({ id, usedMs }));
    this.store.append(added);
    for (const used of added) this.#remember(used);
    this.#forgetOld();
    this.#stored += added.length;
    if (this.#stored > this.#maxStored) this.#rewrite();
  }

  #remember({ id, usedMs }: UsedId): void {
    this.#usedMs.delete(id); // Deleting first moves the id to the newest position.
    this.#usedMs.set(id, usedMs);
  }

  #forgetOld(): void {
    const oldestMs = this.now() - keptMs;
    for (const [id, usedMs] of this.#usedMs) {
      if (this.#usedMs.size <= keptIds && usedMs >= oldestMs) return;
      this.#usedMs.delete(id);
    }
  }

  /** Each rewrite follows as many new ids as it keeps, so the cost of one id does not depend on the number of ids. */
  #rewrite(): void {
    try {
      this.store.replace([...this.#usedMs].map(([id, usedMs]) => ({ id, usedMs })));
      this.#stored = this.#usedMs.size;
    } catch (error) {
      this.onFault('the list of used ids could not be made smaller', error);
    }
    this.#maxStored = this.#stored + keptIds; // Do not retry a failed rewrite at once.
  }
}
