/**
 * Keeps typed input until the daemon has it, and sends nothing twice. Where the daemon counts the bytes of a session,
 * the count tells which bytes a broken connection lost, and these are sent again. Otherwise they are in doubt.
 */

/** Bytes that may be sent without an answer. */
const windowBytes = 128 * 1024;
const pieceBytes = 16 * 1024;

/** The connection that takes the input. */
export interface InputSocket {
  readonly isOpen: boolean;
  send(bytes: Uint8Array<ArrayBuffer>): void;
  /** Asks for an answer that carries this position, and comes once the daemon has everything sent before. */
  ask(position: number): void;
}

/** Positions count all bytes typed since the start. */
interface Span {
  readonly from: number;
  readonly to: number;
}

export class TypedInput {
  #typed = 0;
  #sent = 0;
  #answered = 0;
  /** Bytes that may have to be sent again, then bytes not sent yet. The first one has the position `#keptFrom`. */
  #kept = new Uint8Array();
  #keptFrom = 0;
  /** The position at the start of the connection, and the bytes that the session had then from all clients. */
  #base: { readonly position: number; readonly taken: number } | null = null;
  #doubted: Span = { from: 0, to: 0 };

  /** Bytes that were never sent. */
  get unsentBytes(): number {
    return this.#typed - this.#sent;
  }

  add(bytes: Uint8Array): Span {
    const from = this.#typed;
    const kept = new Uint8Array(this.#kept.length + bytes.length);
    kept.set(this.#kept);
    kept.set(bytes, this.#kept.length);
    this.#kept = kept;
    this.#typed += bytes.length;
    return { from, to: this.#typed };
  }

  /** Something was typed that the daemon may not have. */
  get isPending(): boolean {
    return this.#answered < this.#typed;
  }

  isAnswered({ to }: Span): boolean {
    return this.#answered >= to;
  }

  /** How many bytes, these among them, may be lost. */
  doubtOf({ from, to }: Span): number {
    const { from: first, to: end } = this.#doubted;
    return from < end && first < to ? end - first : 0;
  }

  /** The daemon has everything up to this position. */
  confirm(position: number): void {
    if (position > this.#answered) this.#answered = Math.min(position, this.#sent);
  }

  /** The session may have dropped input that its program does not read, so its count allows no repeat. */
  distrust(): void {
    this.#base = null;
  }

  /** A connection begins, at which the session had so many bytes. Returns how many bytes may be lost. */
  resume(taken: number | null): number {
    const unanswered = { from: this.#answered, to: this.#sent };
    const arrived = taken === null || !this.#base ? null : this.#base.position + taken - this.#base.taken;
    // A count above what this client has sent means that another one has typed too, so the loss has no known place.
    const isKnown = arrived !== null && arrived >= this.#keptFrom && arrived <= this.#sent;
    if (isKnown) this.#sent = arrived;
    else this.#doubted = unanswered;
    this.#answered = this.#sent;
    this.#base = taken === null ? null : { position: this.#sent, taken };
    this.#forget();
    return isKnown ? 0 : unanswered.to - unanswered.from;
  }

  /** Sends what the window allows; `confirm` makes room for more. */
  sendTo(socket: InputSocket): void {
    while (socket.isOpen && this.unsentBytes > 0 && this.#sent - this.#answered < windowBytes) {
      const from = this.#sent - this.#keptFrom;
      const piece = this.#kept.subarray(from, from + pieceBytes);
      socket.send(piece);
      this.#sent += piece.length;
      socket.ask(this.#sent);
    }
    this.#forget();
  }

  /** Drops old bytes. The latest ones stay for a while, because a daemon may die with bytes that it has received. */
  #forget(): void {
    const from = Math.max(this.#keptFrom, Math.min(this.#answered, this.#sent - windowBytes));
    this.#kept = this.#kept.subarray(from - this.#keptFrom);
    this.#keptFrom = from;
  }
}
