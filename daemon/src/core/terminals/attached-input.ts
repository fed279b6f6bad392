/** What somebody at a terminal types: in its order, waiting for the programs that read it, up to a bound. */
import { CoreError } from '../../kit/errors.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import type { Attaching } from './attaching.ts';
import type { Terminal } from './terminal.ts';

/** Waiting to be typed; what is more is refused as a whole. */
const mostWaitingBytes = 16 * 1024 * 1024;

export class AttachedInput {
  /** What was to be typed last: one turn at the keyboard. */
  #turn: Uint8Array[] = [];
  #waitingBytes = 0;

  constructor(
    private readonly terminal: Terminal,
    private readonly attaching: Attaching,
    /** Why something was not typed. */
    private readonly onRefused: (error: unknown) => void,
  ) {}

  /** The bytes are kept until they are typed. */
  type(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes.length > mostWaitingBytes) {
      this.onRefused(notTyped(bytes.length));
      return;
    }
    this.#waitingBytes += bytes.length;
    this.terminal.untypedBytes += bytes.length;
    // Keys that have come in quickly are typed at once, unless somebody else has come between them.
    if (this.terminal.isLastTurn(this.#turn)) this.#turn.push(bytes);
    else void this.#takeTurn((this.#turn = [bytes]));
  }

  async #takeTurn(turn: Uint8Array[]): Promise<void> {
    try {
      await this.terminal.takeTurn(turn, async () => {
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
        if (typed === 0) throw notTyped(bytes.length - at);
        at += typed ?? 0;
        this.terminal.untypedBytes -= typed ?? 0;
      }
    } finally {
      this.terminal.untypedBytes -= bytes.length - at;
    }
  }

  /** null when another daemon was about to have the terminal, and all is as it was. */
  async #tryToType(bytes: Uint8Array): Promise<number | null> {
    const { terminal, attaching } = this;
    const { left } = attaching;
    while (attaching.isHeld && !left.aborted) await terminal.log.changed(left);
    if (left.aborted) return bytes.length; // Somebody else has the terminal, and nobody is there to be told.
    try {
      return await terminal.typeInTurn(bytes, left);
    } catch (error) {
      if (error instanceof HandedOver) return null;
      throw error;
    }
  }
}

function notTyped(count: number): CoreError {
  return new CoreError('terminal_busy', `nothing reads what is typed: the last ${count} bytes were left out`, {
    hint: 'Send a signal such as SIGINT, or wait for the program in the foreground, and type them again.',
  });
}
