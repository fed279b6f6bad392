/** Types into the shell of a session: one writer at a time, in arrival order. */
import { Deadline } from '../../../kit/deadline.ts';
import type { ExecTerminal } from '../exec/terminal.ts';

/** How long typed input may wait for a program to read it. */
const typeWithinMs = 10_000;

export class TerminalInput {
  #typedBytes: number | null = 0;
  #waitingBytes = 0;
  #typing: Promise<unknown> = Promise.resolve();
  #lastTurn: object | null = null;

  constructor(private readonly terminal: Pick<ExecTerminal, 'log' | 'process' | 'touch'>) {}

  /** Continues the count of an earlier daemon; null if it is unknown. */
  adopt(typedBytes: number | null): void {
    this.#typedBytes = typedBytes;
  }

  /** Bytes typed so far plus bytes waiting, by which clients avoid typing anything twice; null if unknown. */
  get bytes(): number | null {
    return this.#typedBytes === null ? null : this.#typedBytes + this.#waitingBytes;
  }

  /** Counts input of attached clients that waits to be typed, or that was typed or dropped. */
  countWaiting(change: number): void {
    this.#waitingBytes += change;
  }

  /** Types after all earlier input; returns the number of bytes taken. Throws `terminal_ended`. */
  async type(bytes: Uint8Array, signal: AbortSignal): Promise<number> {
    return await this.takeTurn({}, () => this.typeInTurn(bytes, signal));
  }

  /** Queues a writer behind all earlier ones. `work` has the keyboard until it is done. */
  async takeTurn<T>(turn: object, work: () => Promise<T>): Promise<T> {
    this.#lastTurn = turn;
    const done = this.#typing.then(() => {
      if (this.#lastTurn === turn) this.#lastTurn = null;
      return work();
    });
    this.#typing = done.catch(() => null); // The next writer types even if this one fails.
    return await done;
  }

  /** True if the turn has not started and no other turn is queued behind it. */
  isLastTurn(turn: object): boolean {
    return this.#lastTurn === turn;
  }

  /** Like `type`, for a caller that already has the keyboard. */
  async typeInTurn(bytes: Uint8Array, signal: AbortSignal): Promise<number> {
    const { log } = this.terminal;
    this.terminal.touch();
    if (!log.isWatched) log.refresh(); // Output from now on is timed after this.
    using deadline = new Deadline(typeWithinMs, signal);
    const count = await this.terminal.process.type(bytes, deadline.signal);
    if (this.#typedBytes !== null) this.#typedBytes += count;
    return count;
  }
}
