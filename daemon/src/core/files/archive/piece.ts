/** Buffers the next piece of an archive, so that small files are read directly into it. */

export class Piece {
  #buffer: Buffer;
  #length = 0;

  constructor(private readonly expectedBytes: number) {
    this.#buffer = Buffer.allocUnsafeSlow(expectedBytes);
  }

  get length(): number {
    return this.#length;
  }

  add(bytes: Uint8Array): void {
    this.space(bytes.length).set(bytes);
  }

  /** Reserves `length` bytes, which the caller must fill before the next call. */
  space(length: number): Buffer {
    const end = this.#length + length;
    if (end > this.#buffer.length) this.#grow(end);
    const space = this.#buffer.subarray(this.#length, end);
    this.#length = end;
    return space;
  }

  /** Truncates the piece to this length. */
  truncate(length: number): void {
    this.#length = length;
  }

  /** Returns the bytes and empties the piece. A small piece is copied, so that it does not keep a large buffer alive. */
  take(): Uint8Array {
    let bytes = this.#buffer.subarray(0, this.#length);
    if (2 * this.#length < this.expectedBytes) bytes = Buffer.from(bytes);
    else this.#buffer = Buffer.allocUnsafeSlow(this.expectedBytes);
    this.#length = 0;
    return bytes;
  }

  #grow(bytes: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(bytes, 2 * this.#buffer.length));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
