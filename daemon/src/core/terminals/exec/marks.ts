/**
 * Finds the marks that a shell writes into its output around a command.
 *
 * A mark is `ESC ] 7717 ; kind ; token ; code BEL`, which terminals do not display. Each command has a new token, so
 * that a replay of old bytes does not contain its marks.
 */
import type { Range } from '../../../kit/byte-log.ts';
import type { TerminalLog } from '../session/log.ts';

/** P: prompt begins. B: prompt ends. C: output follows. D: command ended. H: the same, reported by the next prompt. */
export type MarkKind = 'P' | 'B' | 'C' | 'D' | 'H';

/** The range has the offsets of the first byte of the mark and of the byte after the mark. */
export interface Mark extends Range {
  readonly kind: MarkKind;
  /** The reported exit code; null if there was none. */
  readonly code: number | null;
}

const intro = Buffer.from('\x1b]7717;');
const bell = 7;
/** No byte below this one can be inside a mark. */
const space = 0x20;
/** Size limit of a mark. */
const maxBytes = 128;
const chunkBytes = 256 * 1024;

export type MarkedOutput = Pick<TerminalLog, 'readInto' | 'use'>;

/** Finds the marks of one token in the output of a session. */
export class MarkReader {
  /** True if output that is no longer kept was skipped. */
  hasGap = false;
  #at: number;
  readonly #pattern: RegExp;

  constructor(
    private readonly log: MarkedOutput,
    from: number,
    token: string,
  ) {
    this.#at = from;
    this.#pattern = new RegExp(`^(P|B|C|D|H);${token}(?:;(\\d{1,3}))?$`);
  }

  /** The offset up to which output was searched. */
  get at(): number {
    return this.#at;
  }

  /** Searches the available output and yields each mark it finds. A mark may span several pieces of the log. */
  *read(): Generator<Mark> {
    const buffer = Buffer.allocUnsafe(chunkBytes);
    using _open = this.log.use();
    for (let heldBytes = 0; ;) {
      const piece = this.log.readInto(buffer.subarray(heldBytes), this.#at + heldBytes);
      if (!piece) return;
      if (piece.kind === 'gap') {
        this.#at = piece.to;
        this.hasGap = true;
        heldBytes = 0;
        continue;
      }
      const [from, length] = [this.#at, heldBytes + piece.bytes.length];
      yield* this.#marks(buffer.subarray(0, length), from);
      heldBytes = from + length - this.#at;
      buffer.copyWithin(0, length - heldBytes, length);
    }
  }

  /** Leaves `#at` at the start of a mark that is not complete yet. */
  *#marks(bytes: Buffer, offset: number): Generator<Mark> {
    for (let at = 0; ;) {
      const start = bytes.indexOf(intro, at);
      if (start < 0) {
        this.#at = offset + bytes.length - partialIntro(bytes);
        return;
      }
      const end = markEnd(bytes, start);
      if (end === null) {
        this.#at = offset + start;
        return;
      }
      const isWhole = bytes[end] === bell;
      at = isWhole ? end + 1 : end;
      this.#at = offset + at;
      const match = isWhole ? this.#pattern.exec(bytes.toString('latin1', start + intro.length, end)) : null;
      if (!match) continue;
      const code = match[2] === undefined ? null : Number(match[2]);
      yield { kind: match[1] as MarkKind, code, from: offset + start, to: offset + at };
    }
  }
}

/** The first byte that ends the mark, or that shows that the mark was cut off; null while neither has arrived. */
function markEnd(bytes: Buffer, start: number): number | null {
  const limit = Math.min(bytes.length, start + maxBytes);
  const text = bytes.subarray(start + intro.length, limit);
  const length = text.findIndex((byte) => byte < space);
  if (length >= 0) return start + intro.length + length;
  return limit < start + maxBytes ? null : limit;
}

/** Number of bytes at the end that may be the beginning of a mark. */
function partialIntro(bytes: Buffer): number {
  for (let count = Math.min(intro.length - 1, bytes.length); count > 0; count--) {
    if (bytes.subarray(bytes.length - count).equals(intro.subarray(0, count))) return count;
  }
  return 0;
}
