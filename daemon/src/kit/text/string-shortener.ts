/** Cuts the long strings of a JSON text while the text arrives, so that no more than their beginnings is held. */

const quote = 0x22;
const backslash = 0x5c;
const letterU = 0x75;
/** The next byte names the kind of the escape sequence. */
const escapeKind = -1;
/** Marks the cut. */
const ellipsis = Buffer.from('…');

/** Bytes of a string as JSON writes it. */
const maxStringBytes = 64 * 1024;

export class StringShortener {
  #isInString = false;
  /** Bytes of the string so far. */
  #length = 0;
  /** Digits that the escape sequence still has, or `escapeKind`. */
  #escape = 0;
  #isCutting = false;

  constructor(private readonly maxBytes = maxStringBytes) {}

  /** Returns the part without the ends of long strings. */
  push(part: Buffer): Buffer {
    const kept: Buffer[] = [];
    let from = this.#isCutting ? part.length : 0;
    for (let at = 0; at < part.length; at += 1) {
      const byte = part[at]!;
      if (!this.#isInString) {
        if (byte === quote) this.#begin();
        continue;
      }
      if (this.#escape === 0 && byte === quote) {
        if (this.#isCutting) from = at;
        this.#isInString = this.#isCutting = false;
        continue;
      }
      if (!this.#isCutting && this.#length >= this.maxBytes && this.#isBoundary(byte)) {
        kept.push(part.subarray(from, at), ellipsis);
        from = part.length;
        this.#isCutting = true;
      }
      this.#read(byte);
    }
    if (kept.length === 0 && from === 0) return part;
    kept.push(part.subarray(from));
    return Buffer.concat(kept);
  }

  #begin(): void {
    this.#isInString = true;
    this.#length = this.#escape = 0;
  }

  /** Neither inside an escape sequence nor inside a character. */
  #isBoundary(byte: number): boolean {
    return this.#escape === 0 && (byte & 0xc0) !== 0x80;
  }

  #read(byte: number): void {
    this.#length += 1;
    if (this.#escape === escapeKind) this.#escape = byte === letterU ? 4 : 0;
    else if (this.#escape > 0) this.#escape -= 1;
    else if (byte === backslash) this.#escape = escapeKind;
  }
}
