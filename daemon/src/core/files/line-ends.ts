/** Fits texts that a client sends to the line ends of a file. */

/** `mixed` has both LF and CRLF, `none` has no line end at all. */
export type LineEnds = '\n' | '\r\n' | '\r' | 'mixed' | 'none';

/** CR ends a line only in a file without LF. Elsewhere CR is a character of the line, as grep and sed count. */
export function lineEndsOf(text: string): LineEnds {
  let newline = text.indexOf('\n');
  if (!text.includes('\r')) return newline === -1 ? 'none' : '\n';
  if (newline === -1) return '\r';
  const isCrlf = text[newline - 1] === '\r';
  for (; newline !== -1; newline = text.indexOf('\n', newline + 1)) {
    if ((text[newline - 1] === '\r') !== isCrlf) return 'mixed';
  }
  return isCrlf ? '\r\n' : '\n';
}

/** The character that a line ends with: LF, or CR in a text without LF. */
export function lineEndOf(text: string): '\n' | '\r' {
  return text.includes('\n') || !text.includes('\r') ? '\n' : '\r';
}

/** Replaces LF and CRLF. */
export function withLineEnds(text: string, end: string): string {
  return text.replaceAll(/\r?\n/g, () => end);
}

/** Whether the texts are equal but for their line ends. */
export function isSameText(one: string, other: string): boolean {
  return withLineEnds(one, '\n') === withLineEnds(other, '\n');
}

/** Finds the line ends of a mixed text. The positions must ascend, so that the text is read once. */
export class NearLineEnds {
  #end = '\n';
  #until = -1;

  constructor(private readonly text: string) {}

  /** The end of the line at this position, or of the line before when this line has no end. */
  at(position: number): string {
    if (position > this.#until) {
      const next = this.text.indexOf('\n', position);
      const newline = next === -1 ? this.text.lastIndexOf('\n') : next;
      this.#end = this.text[newline - 1] === '\r' ? '\r\n' : '\n';
      this.#until = next === -1 ? Infinity : next;
    }
    return this.#end;
  }
}
