/** Types a text: ASCII by key events, and lines with other characters through the clipboard. */
import type { Paste } from '../clipboard/paste.ts';
import type { CallOptions } from '../desktop.ts';
import type { Keyboard } from './keyboard.ts';

export interface TypingOptions extends CallOptions {
  /** False to type every character by key events. */
  readonly usesClipboard: boolean;
}

/** Tabulators and line ends separate pieces, because they are keys in either way. */
const separator = /(?<=[\n\t])/;
// oxlint-disable-next-line no-control-regex -- The range is what ASCII is.
const ascii = /^[\u0000-\u007F]*$/;

export class Typist {
  constructor(
    private readonly keyboard: Keyboard,
    private readonly paste: Paste,
  ) {}

  /** Throws `unavailable` when no program takes the pasted text. */
  async type(text: string, { usesClipboard, ...options }: TypingOptions): Promise<void> {
    for (const { isPasted, pieces } of usesClipboard ? partsOf(text) : []) {
      if (isPasted) await this.#pasteAll(pieces, options);
      else await this.keyboard.type(pieces.join(''), options);
    }
    if (!usesClipboard) await this.keyboard.type(text, options);
  }

  /** Each piece is pasted without the key at its end. */
  async #pasteAll(pieces: readonly string[], options: CallOptions): Promise<void> {
    const texts = pieces.map((piece) => piece.replace(/[\n\t]$/, ''));
    await this.paste.lines(texts, options, async (index) => {
      const end = pieces[index]?.slice(texts[index]?.length) ?? '';
      if (end !== '') await this.keyboard.type(end, options);
    });
  }
}

interface Part {
  readonly isPasted: boolean;
  readonly pieces: string[];
}

/** Neighbours of one kind stay together: the clipboard is then kept and given back once. */
function partsOf(text: string): Part[] {
  const parts: Part[] = [];
  for (const piece of text.toWellFormed().replaceAll('\r\n', '\n').split(separator)) {
    const isPasted = !ascii.test(piece);
    const last = parts.at(-1);
    if (last?.isPasted === isPasted) last.pieces.push(piece);
    else parts.push({ isPasted, pieces: [piece] });
  }
  return parts;
}
