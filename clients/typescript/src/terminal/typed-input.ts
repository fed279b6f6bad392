/**
 * Keeps typed input until the daemon has it, and sends nothing twice. Where the daemon counts the bytes of a session,
 * the count tells which bytes a broken connection lost, and these are sent again. Otherwise they are in doubt.
 */

/** Bytes that may be sent without an answer. */
const windowBytes = 128 * 1024;
/** Bytes that stay when they were answered, because a daemon may die before a program has read what it received. */
const keptBytes = 1024 * 1024;
/** Input is kept and sent in blocks. Block n begins at the position n * blockBytes. */
const blockBytes = 16 * 1024;

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
  /** Bytes that may have to be sent again, then bytes not sent yet. */
  readonly #blocks: Uint8Array<ArrayBuffer>[] = [];
  /** The number of the first of these blocks. */
  #firstBlock = 0;
  /** The position at the start of the connection, and the bytes that the session had then from all clients. */
  #base: { readonly position: number; readonly taken: number } | null = null;
  #doubted: Span = { from: 0, to: 0 };

  /** Bytes that were never sent. */
  get unsentBytes(): number {
    return this.#typed - this.#sent;
  }

  add(bytes: Uint8Array): Span {
    const from = this.#typed;
    for (let at = 0; at < bytes.length;) {
      const place = this.#typed % blockBytes;
      if (place === 0) this.#blocks.push(new Uint8Array(blockBytes));
      const piece = bytes.subarray(at, at + blockBytes - place);
      this.#blocks.at(-1)?.set(piece, place);
      this.#typed += piece.length;
      at += piece.length;
    }
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
    const arrived = taken === null || !this.#base ? null : this.#base.position + taken - this.#base.taken;
    // A count above what this client has sent means that another one has typed too, so the loss has no known place.
    const isKnown = arrived !== null && arrived >= this.#firstBlock * blockBytes && arrived <= this.#sent;
    if (isKnown) this.#sent = arrived;
    else this.#doubted = { from: Math.max(0, Math.min(this.#answered, arrived ?? this.#answered)), to: this.#sent };
    this.#answered = this.#sent;
    this.#base = taken === null ? null : { position: this.#sent, taken };
    return isKnown ? 0 : this.#doubted.to - this.#doubted.from;
  }

  /** Sends what the window allows; `confirm` makes room for more. */
  sendTo(socket: InputSocket): void {
    while (socket.isOpen && this.unsentBytes > 0 && this.#sent - this.#answered < windowBytes) {
      const place = this.#sent % blockBytes;
      const block = this.#blocks[Math.floor(this.#sent / blockBytes) - this.#firstBlock];
      const piece = block!.subarray(place, place + this.unsentBytes);
      socket.send(piece);
      this.#sent += piece.length;
      socket.ask(this.#sent);
    }
    const first = Math.max(this.#firstBlock, Math.floor((this.#answered - keptBytes) / blockBytes));
    this.#blocks.splice(0, first - this.#firstBlock);
    this.#firstBlock = first;
  }
}
