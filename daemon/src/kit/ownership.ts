/** Says whether this daemon owns its processes and sessions, or an upgrade gives them to another daemon. */
import { HandedOver } from './handed-over.ts';

/**
 * `leaving`: operations in progress finish, and no new operation starts. `left`: the keepers belong to another daemon,
 * and this daemon only reads files. A failed upgrade leads back to `owned`.
 */
export type OwnershipState = 'owned' | 'leaving' | 'left';

export class Ownership {
  #state: OwnershipState = 'owned';
  #leaving = new AbortController();
  #leavingFrom: number | null = null;

  get state(): OwnershipState {
    return this.#state;
  }

  get isOwned(): boolean {
    return this.#state === 'owned';
  }

  get isLeft(): boolean {
    return this.#state === 'left';
  }

  /** Ends waits when an upgrade begins. `takeBack` creates a new signal, so a wait that starts later must get it again. */
  get leaving(): AbortSignal {
    return this.#leaving.signal;
  }

  /** For how long an upgrade has been in progress; null while this daemon owns everything. */
  get leavingMs(): number | null {
    return this.#leavingFrom === null ? null : performance.now() - this.#leavingFrom;
  }

  /** Throws `HandedOver` from the beginning of an upgrade on. */
  assertOwned(): void {
    if (!this.isOwned) throw new HandedOver();
  }

  startLeaving(): void {
    this.#state = 'leaving';
    this.#leavingFrom = performance.now();
    this.#leaving.abort();
  }

  finishLeaving(): void {
    this.#state = 'left';
  }

  /** The keepers belong to this daemon again after the other daemon exited, but operations do not start yet. */
  startReturning(): void {
    this.#state = 'leaving';
  }

  /** Resumes ownership after the other daemon exited before it served requests. */
  takeBack(): void {
    this.#state = 'owned';
    this.#leavingFrom = null;
    this.#leaving = new AbortController();
  }
}
