/** What is written down of the sessions, so that the next daemon finds them. */
import type { SessionRecord } from './session.ts';

export interface SessionRecordsDeps {
  readonly store: { save(records: readonly SessionRecord[]): void };
  /** Those of all sessions there are. */
  readonly all: () => readonly SessionRecord[];
  readonly onFault: (what: string, error: unknown) => void;
}

const saveWithinMs = 1000;

export class SessionRecords {
  #saving: ReturnType<typeof setTimeout> | null = null;
  /** What is written down is another daemon's. */
  #isLeft = false;

  constructor(private readonly deps: SessionRecordsDeps) {}

  saveSoon(): void {
    this.#saving ??= setTimeout(() => this.flush(), saveWithinMs);
  }

  /** Writes what is still to be written. */
  flush(): void {
    if (this.#saving === null) return;
    clearTimeout(this.#saving);
    this.#saving = null;
    this.save();
  }

  save(): void {
    if (this.#isLeft) return;
    try {
      this.deps.store.save(this.deps.all());
    } catch (error) {
      this.deps.onFault('code sessions could not be written', error);
    }
  }

  /** Writes for the last time: from now on another daemon does. */
  leave(): void {
    this.saveSoon();
    this.flush();
    this.#isLeft = true;
  }

  /** The other daemon has gone before it served. */
  takeBack(): void {
    this.#isLeft = false;
    this.saveSoon();
  }
}
