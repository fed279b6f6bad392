/**
 * Buffers typed input: keeps it during a disconnect and never sends it twice.
 * When the daemon reports how many bytes were typed into the session, the client knows exactly which bytes a broken
 * connection lost, and sends them again. Otherwise unanswered bytes are not sent again, and their number is reported.
 */
import type { AttachSocket } from './socket.ts';
import { Notifier } from '../../kit/notifier.ts';

/** Bytes that may wait for a connection; beyond that, the keyboard is not read. */
const maxWaitingBytes = 64 * 1024;
/** Bytes that may be sent without an answer. */
const windowBytes = 128 * 1024;
const pieceBytes = 16 * 1024;

export class TypedInput {
  /** Positions count all bytes typed since the start. */
  #typed = 0;
  #sent = 0;
  #answered = 0;
  /** Bytes that may have to be sent again, then bytes not sent yet. The first one has the position `#keptFrom`. */
  #kept: Buffer = Buffer.alloc(0);
  #keptFrom = 0;
  /** The client's position at the start of the connection, and the bytes that the session had from all clients. */
  #base: { readonly position: number; readonly taken: number } | null = null;
  readonly #changes = new Notifier();

  /** Bytes that were never sent. */
  get waitingBytes(): number {
    return this.#typed - this.#sent;
  }

  /** True when everything was sent and received. */
  get isAnswered(): boolean {
    return this.#answered === this.#typed;
  }

  /** Resolves when the bytes are buffered; waits while too many bytes are unsent. */
  async add(bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    while (this.waitingBytes > maxWaitingBytes && !signal.aborted) await this.#changes.wait(signal);
    this.#kept = Buffer.concat([this.#kept, bytes]);
    this.#typed += bytes.length;
    this.#changes.notify();
  }

  /** Resolves when everything was received, or when the signal aborts. */
  async answered(signal: AbortSignal): Promise<void> {
    while (!this.isAnswered && !signal.aborted) await this.#changes.wait(signal);
  }

  /** Records that everything sent up to this position has been received. */
  confirm(position: number): void {
    if (!(position > this.#answered)) return;
    this.#answered = Math.min(position, this.#sent);
    this.#changes.notify();
  }

  /** The session may have dropped input that its program does not read, so counts no longer allow a resend. */
  doubt(): void {
    this.#base = null;
  }

  /** Prepares for a new connection. Returns how many bytes may be lost because their arrival is unknown. */
  resume(taken: number | null): number {
    const unanswered = this.#sent - this.#answered;
    const arrived = taken === null || !this.#base ? null : this.#base.position + taken - this.#base.taken;
    // A count above what this client sent means that another client has typed too. The missing bytes then cannot be
    // identified.
    const isKnown = arrived !== null && arrived >= this.#keptFrom && arrived <= this.#sent;
    if (isKnown) this.#sent = arrived;
    this.#answered = this.#sent;
    this.#base = taken === null ? null : { position: this.#sent, taken };
    this.#forget();
    this.#changes.notify();
    return isKnown ? 0 : unanswered;
  }

  /** Sends typed bytes while the connection is open. */
  async pump(socket: AttachSocket, signal: AbortSignal): Promise<void> {
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

  /** Drops old bytes. The latest ones stay for a while, because a daemon may die with bytes that it has received. */
  #forget(): void {
    const from = Math.max(this.#keptFrom, Math.min(this.#answered, this.#sent - windowBytes));
    this.#kept = this.#kept.subarray(from - this.#keptFrom);
    this.#keptFrom = from;
  }
}
