/** Cuts the bytes of an X server into whole messages without copying a large reply more than once. */
import { Message } from './message.ts';

/** The largest reply is a picture of the screen; this is one of 16384 × 8192 pixels of four bytes. */
const maxFrameBytes = 512 * 1024 * 1024;

const genericEvent = 35;
const reply = 1;

export class MessageCutter {
  #isSetup = true;
  #rest: Buffer | null = null;
  #large: Buffer | null = null;
  #filled = 0;

  /** The first message is the server's answer to the connection setup. */
  constructor(private readonly onFrame: (message: Message) => void) {}

  /** Throws a RangeError when the server announces a message of more than 512 MiB. */
  push(chunk: Buffer): void {
    let bytes = this.#fillLarge(chunk);
    if (this.#rest) {
      bytes = Buffer.concat([this.#rest, bytes]);
      this.#rest = null;
    }
    for (let length = this.#lengthOf(bytes); length !== null; length = this.#lengthOf(bytes)) {
      if (length > bytes.length) return this.#beginLarge(bytes, length);
      // A copy, because the runtime owns the memory of the chunk.
      this.#emit(Buffer.from(bytes.subarray(0, length)));
      bytes = bytes.subarray(length);
    }
    if (bytes.length > 0) this.#rest = Buffer.from(bytes);
  }

  /** The length of the message that begins here; null while its header is incomplete. */
  #lengthOf(bytes: Buffer): number | null {
    if (bytes.length < (this.#isSetup ? 8 : 32)) return null;
    if (this.#isSetup) return 8 + 4 * bytes.readUInt16LE(6);
    const kind = bytes.readUInt8(0) & 0x7f;
    const length = 32 + (kind === reply || kind === genericEvent ? 4 * bytes.readUInt32LE(4) : 0);
    if (length > maxFrameBytes) throw new RangeError(`the X server announced a message of ${length} bytes`);
    return length;
  }

  #beginLarge(bytes: Buffer, length: number): void {
    this.#large = Buffer.allocUnsafeSlow(length);
    this.#filled = bytes.copy(this.#large);
  }

  /** Copies into the message under way; returns the bytes after its end. */
  #fillLarge(chunk: Buffer): Buffer {
    if (!this.#large) return chunk;
    const copied = chunk.copy(this.#large, this.#filled);
    this.#filled += copied;
    if (this.#filled === this.#large.length) {
      const whole = this.#large;
      this.#large = null;
      this.#emit(whole);
    }
    return chunk.subarray(copied);
  }

  #emit(frame: Buffer): void {
    this.#isSetup = false;
    this.onFrame(new Message(frame));
  }
}
