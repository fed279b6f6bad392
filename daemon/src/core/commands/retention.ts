/** Decides which finished commands are evicted by count, age or size. */
import type { Command } from './command.ts';

const keptEnded = 512;
const keptMs = 3600 * 1000;

export class EndedCommands {
  /** Ordered by end time, oldest first. */
  readonly #inOrder = new Set<Command>();

  add(command: Command): void {
    this.#inOrder.add(command);
  }

  delete(command: Command): void {
    this.#inOrder.delete(command);
  }

  /** The oldest commands beyond the count limit. Cheap enough to check after every end. */
  tooMany(): Command[] {
    const excess = this.#inOrder.size - keptEnded;
    return excess > 0 ? [...this.#inOrder.values().take(excess)] : [];
  }

  /**
   * Commands that are too old, and the oldest commands that do not fit into the byte budget. A command larger than the
   * whole budget is evicted alone.
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
