/** Packs X11 requests, and reads fields of X11 replies and events at their offsets. */

/** Appends fields in the byte order that the client announces: little-endian. */
export class Packer {
  #bytes = Buffer.alloc(64);
  #length = 0;

  u8(value: number): this {
    const at = this.#take(1);
    this.#bytes.writeUInt8(value, at);
    return this;
  }

  u16(value: number): this {
    const at = this.#take(2);
    this.#bytes.writeUInt16LE(value, at);
    return this;
  }

  i16(value: number): this {
    const at = this.#take(2);
    this.#bytes.writeInt16LE(value, at);
    return this;
  }

  u32(...values: readonly number[]): this {
    let at = this.#take(4 * values.length);
    for (const value of values) at = this.#bytes.writeUInt32LE(value >>> 0, at);
    return this;
  }

  bytes(value: Uint8Array): this {
    const at = this.#take(value.length);
    this.#bytes.set(value, at);
    return this;
  }

  /** Zeroes, which X11 requires where a field is unused. */
  skip(count: number): this {
    const from = this.#take(count);
    this.#bytes.fill(0, from, from + count);
    return this;
  }

  /** Fills up to a multiple of four bytes. */
  get packed(): Buffer {
    this.skip(-this.#length & 3);
    return this.#bytes.subarray(0, this.#length);
  }

  /** May replace the buffer, so the callers take before they write. */
  #take(count: number): number {
    const from = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) {
      const grown = Buffer.alloc(Math.max(this.#length, this.#bytes.length * 2));
      this.#bytes.copy(grown, 0, 0, from);
      this.#bytes = grown;
    }
    return from;
  }
}

/** One reply, error or event; offsets are those of the protocol's encoding tables. */
export class Message {
  constructor(readonly bytes: Buffer) {}

  u8(at: number): number {
    return this.bytes.readUInt8(at);
  }

  u16(at: number): number {
    return this.bytes.readUInt16LE(at);
  }

  i16(at: number): number {
    return this.bytes.readInt16LE(at);
  }

  u32(at: number): number {
    return this.bytes.readUInt32LE(at);
  }

  u32s(at: number, count: number): number[] {
    return Array.from({ length: count }, (_, index) => this.u32(at + 4 * index));
  }

  text(at: number, length: number): string {
    return this.bytes.toString('latin1', at, at + length);
  }

  slice(at: number, length: number): Buffer {
    return this.bytes.subarray(at, at + length);
  }
}
