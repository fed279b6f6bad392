/** What all who are attached to terminals share: memory, and whether this daemon still has the terminals. */

/** Read and sent at once. */
export const pieceBytes = 128 * 1024;

export class Attaching {
  /** Another daemon may be about to own the terminals: where everybody stands has been written down, and stays so. */
  isHeld = false;
  readonly #left = new AbortController();
  #memory: Buffer | null = null;

  constructor(private readonly onChange: () => void) {}

  /** For one piece, until it is handed on; nobody waits in between. */
  get memory(): Buffer {
    return (this.#memory ??= Buffer.allocUnsafeSlow(pieceBytes));
  }

  /** Notes that a record has changed. */
  keep(): void {
    if (!this.isHeld) this.onChange();
  }

  /** Fires once another daemon owns the terminals: everybody is to attach there. */
  get left(): AbortSignal {
    return this.#left.signal;
  }

  leave(): void {
    this.#left.abort();
  }
}
