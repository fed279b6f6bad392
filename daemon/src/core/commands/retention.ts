/** Ended commands in the order of their ends, and which of them are no longer kept. */
import type { Command } from './command.ts';

const keptEnded = 512;
const keptMs = 3600 * 1000;

export class EndedCommands {
  /** The oldest end first. */
  readonly #inOrder = new Set<Command>();

  add(command: Command): void {
    this.#inOrder.add(command);
  }

  delete(command: Command): void {
    this.#inOrder.delete(command);
  }

  /** The oldest ones beyond the number that is kept: cheap enough for every end. */
  tooMany(): Command[] {
    const excess = this.#inOrder.size - keptEnded;
    return excess > 0 ? [...this.#inOrder.values().take(excess)] : [];
  }

  /**
   * Those that are too old, and the oldest of those that are too large together; one that is too large
   * for itself goes without taking others with it.
   */
  tooOldOrLarge(nowMs: number, maxBytes: number): Command[] {
    const dropped: Command[] = [];
    let bytes = 0;
    for (const command of [...this.#inOrder].toReversed()) {
      const { keptBytes } = command.child;
      const isKept = (command.state.endedMs ?? 0) >= nowMs - keptMs && bytes + keptBytes <= maxBytes;
      if (isKept) bytes += keptBytes;
      else dropped.push(command);
    }
    return dropped;
  }
}
