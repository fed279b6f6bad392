/** The lines of a log, from an offset on, and where some of them are lost: gone, or too long to be a line. */
import type { Child } from '../../platform/spawn.ts';

/** A picture as base64 in a line of JSON is a large one. */
const mostLineBytes = 32 * 1024 * 1024;
const pieceBytes = 256 * 1024;
const newline = 10;

export class LineReader {
  #offset: number;
  #parts: Buffer[] = [];
  #partBytes = 0;
  /** What comes up to the next end of a line belongs to one that cannot be read. */
  #isSkipping = false;
  #memory: Buffer | null = null;

  constructor(
    private readonly child: Child,
    from: number,
  ) {
    this.#offset = from;
  }

  /** Up to where it was read. */
  get offset(): number {
    return this.#offset;
  }

  /** Behind the last line that was read. */
  get lineEnd(): number {
    return this.#offset - this.#partBytes;
  }

  /** Lines that are whole by now, each with its end; null stands for what is lost. Ends behind so many bytes. */
  *read(mostBytes: number): Generator<string | null> {
    const stop = this.#offset + mostBytes;
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

  /** An answer of a few bytes needs no more than that. */
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
      if (line !== null) yield line;
    }
  }

  /** The memory of a piece is used again for the next one. False when the line has just become too long. */
  #keep(part: Buffer): boolean {
    if (this.#isSkipping) return true;
    this.#parts.push(Buffer.from(part));
    this.#partBytes += part.length;
    if (this.#partBytes <= mostLineBytes) return true;
    this.#drop();
    this.#isSkipping = true;
    return false;
  }

  #drop(): void {
    this.#parts = [];
    this.#partBytes = 0;
  }
}
