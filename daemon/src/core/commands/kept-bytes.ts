/** Sums the retained output of all commands, at the cost of the commands whose output can still change. */
import type { Child } from '../../platform/process/spawn.ts';

type Sized = Pick<Child, 'end' | 'streamsOpen' | 'isAttached' | 'keptBytes'>;

export class KeptBytes {
  /** Commands whose output could still change at the last look. */
  readonly #changing = new Set<Sized>();
  readonly #final = new Map<Sized, number>();
  #finalBytes = 0;

  add(child: Sized): void {
    this.#changing.add(child);
  }

  delete(child: Sized): void {
    if (this.#changing.delete(child)) return;
    this.#finalBytes -= this.#final.get(child) ?? 0;
    this.#final.delete(child);
  }

  total(): number {
    let changingBytes = 0;
    for (const child of this.#changing) {
      if (isFinal(child)) this.#settle(child);
      else changingBytes += child.keptBytes;
    }
    return this.#finalBytes + changingBytes;
  }

  #settle(child: Sized): void {
    this.#changing.delete(child);
    this.#final.set(child, child.keptBytes);
    this.#finalBytes += child.keptBytes;
  }
}

/** A keeper writes until both streams have ended, and evicts output as long as the keeper lives. */
function isFinal({ end, streamsOpen, isAttached }: Sized): boolean {
  return end !== null && !streamsOpen && !isAttached;
}
