/** Shows the first lines of a text, as many as an answer has room for, with their numbers if asked. */
import { lineEndOf } from '../../core/files/line-ends.ts';
import { numberLine } from '../../core/files/write/edit-text.ts';
import { maxCharacters } from './text.ts';

export interface ShownLines {
  readonly text: string;
  readonly isCut: boolean;
  /** The number of the last line that is shown. */
  readonly lastLine: number;
}

/** A single line that is longer than the room is cut itself, so that a reader always advances. */
export function shownLines(
  text: string,
  firstLine: number,
  { isNumbered }: { readonly isNumbered: boolean },
): ShownLines {
  const lineEnd = lineEndOf(text);
  const lines = text.split(lineEnd);
  if (lines.at(-1) === '') lines.pop();
  const shown: string[] = [];
  let room = maxCharacters;
  for (const [index, line] of lines.entries()) {
    const numbered = isNumbered ? numberLine(line, firstLine + index) : line;
    if (shown.length > 0 && numbered.length >= room) break;
    shown.push(
      numbered.length > room
        ? `${numbered.slice(0, room).toWellFormed()}… [the line has ${line.length} characters]`
        : numbered,
    );
    room -= numbered.length + 1;
    if (room <= 0) break;
  }
  const isCut = shown.length < lines.length;
  const end = !isNumbered && (isCut || text.endsWith(lineEnd)) && shown.length > 0 ? lineEnd : '';
  return {
    text: shown.join(isNumbered ? '\n' : lineEnd) + end,
    isCut,
    lastLine: Math.max(firstLine, firstLine + shown.length - 1),
  };
}
