/** Output as plain text while it comes: what may be half of a sequence waits for its rest. */
import { cutMarker } from '../../kit/text.ts';
import { plainText } from './exec-output.ts';
import { Sequences } from './screen-sequences.ts';
import type { TerminalLog } from './terminal-log.ts';

/** A sequence that is longer is text. */
const mostHeldBytes = 64 * 1024;
const pieceBytes = 64 * 1024;
const carriageReturn = 0x0d;

/** What is followed: a part of the output of a session. */
export interface TextSource {
  /** Where it begins; null before it does. */
  readonly from: number | null;
  /** Where it ends, as far as it is known. */
  readonly to: number;
  readonly isOver: boolean;
  /** Resolves when any of these may have changed, or when the signal aborts. */
  changed(signal: AbortSignal): Promise<void>;
}

/** All of it up to its end, or up to where it is when the signal aborts. */
export async function* followText(log: TerminalLog, source: TextSource, signal: AbortSignal): AsyncGenerator<string> {
  const text = new PlainText();
  const buffer = Buffer.allocUnsafe(pieceBytes);
  using _open = log.use();
  for (let at = source.from; ;) {
    // Looked at before the output is: what came before the end is then told before it.
    const isLast = source.isOver || signal.aborted;
    at ??= source.from;
    while (at !== null && at < source.to) {
      const piece = log.readInto(buffer.subarray(0, Math.min(pieceBytes, source.to - at)), at);
      if (!piece) break;
      const shown = piece.kind === 'gap' ? `${text.end()}${cutMarker(piece.to - at)}` : text.take(piece.bytes);
      at = piece.kind === 'gap' ? piece.to : at + piece.bytes.length;
      if (shown !== '') yield shown;
    }
    if (isLast) break;
    // It may have ended while somebody took what was handed on.
    if (!source.isOver) await source.changed(signal);
  }
  const rest = text.end();
  if (rest !== '') yield rest;
}

export class PlainText {
  #sequences = new Sequences();
  #held = Buffer.alloc(0);

  /** The text of what is whole by now. */
  take(bytes: Uint8Array): string {
    const { whole } = this.#sequences.scan(bytes);
    const all = Buffer.concat([this.#held, bytes]);
    let length = whole === null ? 0 : this.#held.length + whole;
    // Both bytes of the end of a line are one.
    if (all[length - 1] === carriageReturn) length -= 1;
    this.#held = all.subarray(length);
    if (this.#held.length > mostHeldBytes) return plainText(all.subarray(0, length)) + this.end();
    return plainText(all.subarray(0, length));
  }

  /** Nothing follows. */
  end(): string {
    const rest = plainText(this.#held);
    this.#held = Buffer.alloc(0);
    this.#sequences = new Sequences();
    return rest;
  }
}
