/** Reads the lines of JSON of a log from an offset, and reports lines that are lost or have more than memory permits. */
import { type JsonBounds, outOfBounds } from '../../../kit/text/json-bounds.ts';
import type { Child } from '../../../platform/process/spawn.ts';

/** A line of JSON can contain a large picture as base64. */
const maxLineBytes = 32 * 1024 * 1024;
const pieceBytes = 256 * 1024;
const newline = 10;

export class LineReader {
  #offset: number;
  #parts: Buffer[] = [];
  #partBytes = 0;
  /** True while skipping the rest of a line that cannot be read. */
  #isSkipping = false;
  #memory: Buffer | null = null;

  constructor(
    private readonly child: Child,
    from: number,
    private readonly bounds: JsonBounds,
  ) {
    this.#offset = from;
  }

  /** Position up to which the log was read. */
  get offset(): number {
    return this.#offset;
  }

  /** Position after the last complete line. */
  get lineEnd(): number {
    return this.#offset - this.#partBytes;
  }

  /** Yields complete lines with their line ends, and null for lost output. Stops after about `maxBytes`. */
  *read(maxBytes: number): Generator<string | null> {
    const stop = this.#offset + maxBytes;
    while (this.#offset < stop && this.child.ends[0] > this.#offset) {
      const piece = this.child.readInto(this.#room(this.child.ends[0] - this.#offset), this.#offset);
      if (!piece) break;
      if (piece.kind === 'gap') {
        this.#offset = piece.to;
        this.#drop();
        this.#isSkipping = true;
        yield null;
        continue;
      }
      yield* this.#lines(Buffer.from(piece.bytes.buffer, piece.bytes.byteOffset, piece.bytes.length));
    }
    this.#memory = null;
  }

  /** Allocates only as much memory as is needed, because most answers are small. */
  #room(bytes: number): Buffer {
    const wanted = Math.min(bytes, pieceBytes);
    if (!this.#memory || this.#memory.length < wanted) this.#memory = Buffer.allocUnsafeSlow(wanted);
    return this.#memory;
  }

  *#lines(bytes: Buffer): Generator<string | null> {
    for (let from = 0; from < bytes.length;) {
      const end = bytes.indexOf(newline, from);
      const to = end < 0 ? bytes.length : end + 1;
      this.#offset += to - from;
      if (!this.#keep(bytes.subarray(from, to))) yield null;
      from = to;
      if (end < 0) return;
      const line = this.#isSkipping ? null : Buffer.concat(this.#parts).toString();
      this.#drop();
      this.#isSkipping = false;
      if (line !== null) yield outOfBounds(line, this.bounds) === null ? line : null;
    }
  }

  /** Copies the part, because the read buffer is reused. False when the line has just become too long. */
  #keep(part: Buffer): boolean {
    if (this.#isSkipping) return true;
    this.#parts.push(Buffer.from(part));
    this.#partBytes += part.length;
    if (this.#partBytes <= maxLineBytes) return true;
    this.#drop();
    this.#isSkipping = true;
    return false;
  }

  #drop(): void {
    this.#parts = [];
    this.#partBytes = 0;
  }
}
