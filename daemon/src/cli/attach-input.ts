/**
 * What was typed and is on its way: kept while there is no connection, and never sent twice. Where a daemon tells how
 * much was typed into the session, what a broken connection has swallowed is known to the byte and sent again; where it
 * does not, what was not answered for is left out and told.
 */
import type { TerminalSocket } from './attach-socket.ts';
import { Notifier } from '../kit/notifier.ts';

/** What waits for a connection; then no more is read from the keyboard. */
const mostWaitingBytes = 64 * 1024;
/** What may be on its way without an answer. */
const windowBytes = 128 * 1024;
const pieceBytes = 16 * 1024;

export class TypedInput {
  /** Positions count all that was ever typed here. */
  #typed = 0;
  #sent = 0;
  #answered = 0;
  /** What may have to be sent again, and what was not sent yet; it begins at `#keptFrom`. */
  #kept: Buffer = Buffer.alloc(0);
  #keptFrom = 0;
  /** Our position, and what the session had taken from everybody, at the beginning of the connection. */
  #base: { readonly position: number; readonly taken: number } | null = null;
  readonly #changes = new Notifier();

  /** Bytes that no connection has carried. */
  get waitingBytes(): number {
    return this.#typed - this.#sent;
  }

  /** Everything was sent and received. */
  get isAnswered(): boolean {
    return this.#answered === this.#typed;
  }

  /** Resolves when the bytes are kept; later than at once when too many wait. */
  async add(bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    while (this.waitingBytes > mostWaitingBytes && !signal.aborted) await this.#changes.wait(signal);
    this.#kept = Buffer.concat([this.#kept, bytes]);
    this.#typed += bytes.length;
    this.#changes.notify();
  }

  /** Resolves when everything was received, or when the signal aborts. */
  async answered(signal: AbortSignal): Promise<void> {
    while (!this.isAnswered && !signal.aborted) await this.#changes.wait(signal);
  }

  /** All that was sent up to here has been received. */
  confirm(position: number): void {
    if (!(position > this.#answered)) return;
    this.#answered = Math.min(position, this.#sent);
    this.#changes.notify();
  }

  /** Some of it may have been left out, by a session that does not read: nothing is to be sent again on that account. */
  doubt(): void {
    this.#base = null;
  }

  /** A new connection; answers how many bytes may be lost, because nobody knows whether they arrived. */
  resume(taken: number | null): number {
    const unanswered = this.#sent - this.#answered;
    const arrived = taken === null || !this.#base ? null : this.#base.position + taken - this.#base.taken;
    // More than we have sent: somebody else has typed too, and whose bytes are missing cannot be told.
    const isKnown = arrived !== null && arrived >= this.#keptFrom && arrived <= this.#sent;
    if (isKnown) this.#sent = arrived;
    this.#answered = this.#sent;
    this.#base = taken === null ? null : { position: this.#sent, taken };
    this.#forget();
    this.#changes.notify();
    return isKnown ? 0 : unanswered;
  }

  /** Sends what is typed for as long as the connection is open. */
  async pump(socket: TerminalSocket, signal: AbortSignal): Promise<void> {
    while (socket.isOpen && !signal.aborted) {
      await socket.writable(signal);
      const isHeld = this.#sent - this.#answered >= windowBytes;
      if (this.waitingBytes === 0 || isHeld) {
        await this.#changes.wait(signal);
        continue;
      }
      const from = this.#sent - this.#keptFrom;
      const piece = this.#kept.subarray(from, from + pieceBytes);
      socket.type(piece);
      this.#sent += piece.length;
      socket.ask(this.#sent);
      this.#forget();
      this.#changes.notify();
    }
  }

  /** A daemon may die with what it has received: the last of it is kept for a while. */
  #forget(): void {
    const from = Math.max(this.#keptFrom, Math.min(this.#answered, this.#sent - windowBytes));
    this.#kept = this.#kept.subarray(from - this.#keptFrom);
    this.#keptFrom = from;
  }
}
