/** What somebody at a terminal types: in its order, waiting for the programs that read it, up to a bound. */
import { CoreError } from '../../kit/errors.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import type { Attaching } from './attaching.ts';
import type { Terminal } from './terminal.ts';

/** Waiting to be typed; what is more is refused as a whole. */
const mostWaitingBytes = 16 * 1024 * 1024;

export class AttachedInput {
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #isTyping = false;

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
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.terminal.untypedBytes += bytes.length;
    if (!this.#isTyping) void this.#typeAll();
  }

  async #typeAll(): Promise<void> {
    this.#isTyping = true;
    for (let next = this.#take(); next; next = this.#take()) {
      try {
        await this.#typeOne(next);
      } catch (error) {
        this.onRefused(error);
      }
    }
    this.#isTyping = false;
  }

  #take(): Uint8Array | undefined {
    // Keys that have come in quickly are typed at once.
    const next = this.#waiting.length > 1 ? Buffer.concat(this.#waiting) : this.#waiting[0];
    this.#waiting = [];
    this.#waitingBytes = 0;
    return next;
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
      return await terminal.type(bytes, left);
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
