/**
 * The marks that a shell writes into its output around a command: `ESC ] 7717 ; kind ; token ; code BEL`. A terminal
 * shows nothing of them. The token is new for each command, so that old bytes shown again are no marks of it.
 */
import type { TerminalLog } from './terminal-log.ts';

/** P: the prompt begins. B: it ends, the command follows. C: its output follows. D: its end. H: its end, told by the next prompt. */
export type MarkKind = 'P' | 'B' | 'C' | 'D' | 'H';

export interface Mark {
  readonly kind: MarkKind;
  /** As it was told; null where none was. */
  readonly code: number | null;
  /** Where in the output the mark begins, and what is behind it. */
  readonly from: number;
  readonly to: number;
}

const intro = Buffer.from('\x1b]7717;');
const bell = 7;
/** Of one mark. */
const mostBytes = 128;
const chunkBytes = 256 * 1024;

export type MarkedOutput = Pick<TerminalLog, 'readInto' | 'refresh' | 'use'>;

/** Finds the marks of one token in the output of a session. */
export class MarkReader {
  /** Bytes that are gone were passed over. */
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

  /** What was looked at. */
  get at(): number {
    return this.#at;
  }

  /** Looks at what is there; answers each mark as it is met. */
  *read(): Generator<Mark> {
    const buffer = Buffer.allocUnsafe(chunkBytes);
    using _open = this.log.use();
    for (;;) {
      const piece = this.log.readInto(buffer, this.#at);
      if (!piece) return;
      if (piece.kind === 'gap') {
        this.#at = piece.to;
        this.hasGap = true;
        continue;
      }
      const before = this.#at;
      yield* this.#marks(Buffer.from(piece.bytes.buffer, piece.bytes.byteOffset, piece.bytes.length), before);
      // Of what was cut off by the end of a shell there is no more to come.
      if (this.#at === before && this.log.refresh() > before + piece.bytes.length) this.#at += piece.bytes.length;
      else if (this.#at === before) return;
    }
  }

  *#marks(bytes: Buffer, offset: number): Generator<Mark> {
    for (let at = 0; ;) {
      const start = bytes.indexOf(intro, at);
      if (start < 0) {
        this.#at = offset + bytes.length - partialIntro(bytes);
        return;
      }
      const end = bytes.subarray(0, start + mostBytes).indexOf(bell, start);
      if (end < 0 && bytes.length - start < mostBytes) {
        this.#at = offset + start;
        return;
      }
      at = end < 0 ? start + intro.length : end + 1;
      this.#at = offset + at;
      const match = end < 0 ? null : this.#pattern.exec(bytes.toString('latin1', start + intro.length, end));
      if (!match) continue;
      const code = match[2] === undefined ? null : Number(match[2]);
      yield { kind: match[1] as MarkKind, code, from: offset + start, to: offset + at };
    }
  }
}

/** How many bytes at the end may be the beginning of a mark. */
function partialIntro(bytes: Buffer): number {
  for (let count = Math.min(intro.length - 1, bytes.length); count > 0; count--) {
    if (bytes.subarray(bytes.length - count).equals(intro.subarray(0, count))) return count;
  }
  return 0;
}
