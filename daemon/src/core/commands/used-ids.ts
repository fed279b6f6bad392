/** Remembers the ids that callers chose, beyond the life of their records: a command starts at most once per id. */

export interface UsedId {
  readonly id: string;
  readonly usedMs: number;
}

/** Writing throws the system's error when it cannot be done, and then nothing has changed. */
export interface UsedIdStore {
  load(): readonly UsedId[];
  append(ids: readonly UsedId[]): void;
  replace(ids: readonly UsedId[]): void;
}

/** Of retired commands; the oldest are forgotten first. */
const keptIds = 10_000;
const keptMs = 24 * 3600 * 1000;

export class UsedIds {
  /** When each was used, the oldest first. */
  readonly #usedMs = new Map<string, number>();
  /** How many the store has, those that are forgotten included, and with how many it is written anew. */
  #stored = 0;
  #mostStored = 2 * keptIds;

  constructor(
    private readonly store: UsedIdStore,
    private readonly now: () => number,
    /** Told of a store that cannot be made smaller: it goes on growing. */
    private readonly onFault: (what: string, error: unknown) => void,
  ) {}

  /** Takes up what was kept; called once, when no other daemon writes it any more. */
  load(): void {
    const stored = this.store.load();
    this.#stored = stored.length;
    for (const used of stored) this.#remember(used);
    this.#forgetOld();
  }

  has(id: string): boolean {
    return this.#usedMs.has(id);
  }

  /** Keeps what is new, and lets go of what is old. Throws the system's error when it cannot be written down. */
  add(ids: readonly string[]): void {
    if (ids.length === 0) return;
    const usedMs = this.now();
    const added = ids.map((id) => ({ id, usedMs }));
    this.store.append(added);
    for (const used of added) this.#remember(used);
    this.#forgetOld();
    this.#stored += added.length;
    if (this.#stored > this.#mostStored) this.#rewrite();
  }

  #remember({ id, usedMs }: UsedId): void {
    this.#usedMs.delete(id); // Set again, it has the place of the newest.
    this.#usedMs.set(id, usedMs);
  }

  #forgetOld(): void {
    const oldestMs = this.now() - keptMs;
    for (const [id, usedMs] of this.#usedMs) {
      if (this.#usedMs.size <= keptIds && usedMs >= oldestMs) return;
      this.#usedMs.delete(id);
    }
  }

  /** Behind as many new ones as are written again: what an id costs does not grow with the number of those before it. */
  #rewrite(): void {
    try {
      this.store.replace([...this.#usedMs].map(([id, usedMs]) => ({ id, usedMs })));
      this.#stored = this.#usedMs.size;
    } catch (error) {
      this.onFault('the list of used ids could not be made smaller', error);
    }
    this.#mostStored = this.#stored + keptIds; // A failure is not tried again at once.
  }
}
