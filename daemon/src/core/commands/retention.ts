/** Decides which finished commands are evicted by count, age or size. */
import type { Command } from './command.ts';

const keptEnded = 512;
const keptMs = 3600 * 1000;

export class EndedCommands {
  /**
   * When each was added, by a clock that never jumps: a machine that wakes up days later forgets nothing at once.
   * Oldest first.
   */
  readonly #addedMs = new Map<Command, number>();

  add(command: Command): void {
    this.#addedMs.set(command, performance.now());
  }

  delete(command: Command): void {
    this.#addedMs.delete(command);
  }

  /** The oldest commands beyond the count limit. Cheap enough to check after every end. */
  tooMany(): Command[] {
    const excess = this.#addedMs.size - keptEnded;
    return excess > 0 ? [...this.#addedMs.keys().take(excess)] : [];
  }

  /**
   * Commands that are too old, and the oldest commands that do not fit into the byte budget. A command larger than the
   * whole budget is evicted alone.
   */
  tooOldOrLarge(maxBytes: number): Command[] {
    const dropped: Command[] = [];
    const tooOldMs = performance.now() - keptMs;
    let bytes = 0;
    for (const [command, addedMs] of [...this.#addedMs].toReversed()) {
      const { keptBytes } = command.child;
      const isKept = addedMs >= tooOldMs && bytes + keptBytes <= maxBytes;
      if (isKept) bytes += keptBytes;
      else dropped.push(command);
    }
    return dropped;
  }
}
