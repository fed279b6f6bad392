/** Types the input of an attached client in order, with a bound on bytes that no program has read. */
import { nullOn } from '../../../kit/errno.ts';
import { CoreError } from '../../../kit/errors.ts';
import { HandedOver } from '../../../kit/handed-over.ts';
import type { AttachedClients } from './clients.ts';
import type { Terminal } from '../session/terminal.ts';

/** Limit of bytes waiting to be typed. Input beyond the limit is refused as a whole. */
const maxWaitingBytes = 16 * 1024 * 1024;

export class AttachedInput {
  /** The most recent input: one turn at the keyboard. */
  #turn: Uint8Array[] = [];
  #waitingBytes = 0;

  constructor(
    private readonly terminal: Terminal,
    private readonly clients: AttachedClients,
    /** Called with the reason why input was not typed. */
    private readonly onRefused: (error: unknown) => void,
  ) {}

  /** Queues input. The bytes must not change until they are typed. */
  type(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes.length > maxWaitingBytes) {
      this.onRefused(notTyped(this.terminal, bytes.length));
      return;
    }
    this.#waitingBytes += bytes.length;
    this.terminal.input.countWaiting(bytes.length);
    // Input that arrives in quick succession is typed at once, unless another writer queued up in between.
    if (this.terminal.input.isLastTurn(this.#turn)) this.#turn.push(bytes);
    else void this.#takeTurn((this.#turn = [bytes]));
  }

  async #takeTurn(turn: Uint8Array[]): Promise<void> {
    try {
      await this.terminal.input.takeTurn(turn, async () => {
        const bytes = turn.length > 1 ? Buffer.concat(turn) : (turn[0] ?? Buffer.alloc(0));
        this.#waitingBytes -= bytes.length;
        await this.#typeOne(bytes);
      });
    } catch (error) {
      this.onRefused(error);
    }
  }

  async #typeOne(bytes: Uint8Array): Promise<void> {
    let at = 0;
    try {
      while (at < bytes.length) {
        const typed = await this.#tryToType(bytes.subarray(at));
        if (typed === 0) throw notTyped(this.terminal, bytes.length - at);
        at += typed ?? 0;
        this.terminal.input.countWaiting(-(typed ?? 0));
      }
    } finally {
      this.terminal.input.countWaiting(at - bytes.length);
    }
  }

  /** Returns null if another daemon was about to own the terminal and nothing was typed. */
  async #tryToType(bytes: Uint8Array): Promise<number | null> {
    const { terminal, clients } = this;
    const { left } = clients;
    while (clients.isHeld && !left.aborted) await terminal.log.changed(left);
    if (left.aborted) return bytes.length; // Another daemon has the terminal, and no client is left to report to.
    return await nullOn(HandedOver, terminal.input.typeInTurn(bytes, left));
  }
}

export function notTyped({ id }: Terminal, count: number): CoreError {
  return new CoreError('terminal_busy', `no program reads the input: the last ${count} bytes were discarded`, {
    hint: 'Wait for the program in the foreground, or interrupt the program. Then type the bytes again.',
    next: { operation: 'terminals.interrupt', id },
  });
}
