/** What `POST /init` sets for every later call. It outlives the daemon. */
import type { EnvironmentChanges } from '../../core/processes/environment.ts';

export interface DefaultValues {
  /** Variables of every process. */
  readonly env: Readonly<Record<string, string>>;
  /** Null for the default account of the daemon. */
  readonly user: string | null;
  /** Where a call without a directory works; null for the home of its account. */
  readonly directory: string | null;
}

/** The variables that have a value: null unsets one, and nothing is set before these. */
export function givenVariables(changes: EnvironmentChanges): Record<string, string> {
  return Object.fromEntries(Object.entries(changes).filter((entry): entry is [string, string] => entry[1] !== null));
}

/** Where the values are stored. */
export interface DefaultsStore {
  open(current: () => readonly DefaultValues[]): readonly DefaultValues[];
  save(): void;
}

export class Defaults {
  #current: DefaultValues = { env: {}, user: null, directory: null };
  #isOpen = false;

  constructor(private readonly store: DefaultsStore) {}

  get values(): DefaultValues {
    if (!this.#isOpen) this.#current = this.store.open(() => [this.#current])[0] ?? this.#current;
    this.#isOpen = true;
    return this.#current;
  }

  set(changes: Partial<DefaultValues>): void {
    this.#current = { ...this.values, ...changes };
    this.store.save();
  }
}
