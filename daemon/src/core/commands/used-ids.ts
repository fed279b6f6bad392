/** Remembers the ids that callers chose, beyond the life of their records: a command starts at most once per id. */

export interface UsedId {
  readonly id: string;
  readonly fingerprint: string;
  readonly usedMs: number;
}

export interface UsedIdStore {
  load(): readonly UsedId[];
  save(ids: readonly UsedId[]): void;
}

/** Of retired commands; the oldest are forgotten first. */
const keptIds = 10_000;
const keptMs = 24 * 3600 * 1000;

export class UsedIds {
  #byId = new Map<string, UsedId>();

  constructor(
    private readonly store: UsedIdStore,
    private readonly now: () => number,
  ) {}

  /** Takes up what was kept; called once, when no other daemon writes it any more. */
  load(): void {
    this.#byId = new Map(this.store.load().map((used) => [used.id, used]));
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /** Keeps what is new, and lets go of what is old. */
  add(ids: readonly Omit<UsedId, 'usedMs'>[]): void {
    if (ids.length === 0) return;
    const usedMs = this.now();
    for (const { id, fingerprint } of ids) this.#byId.set(id, { id, fingerprint, usedMs });
    const fresh = [...this.#byId.values()].filter((used) => used.usedMs >= usedMs - keptMs).slice(-keptIds);
    this.#byId = new Map(fresh.map((used) => [used.id, used]));
    this.store.save(fresh);
  }
}
