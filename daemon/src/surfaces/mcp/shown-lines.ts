/** Shows the first lines of a text, as many as an answer has room for, with their numbers if asked. */
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
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const shown: string[] = [];
  let room = maxCharacters;
  for (const [index, line] of lines.entries()) {
    const numbered = isNumbered ? `${String(firstLine + index).padStart(6)}\t${line}` : line;
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
  const end = !isNumbered && (isCut || text.endsWith('\n')) && shown.length > 0 ? '\n' : '';
  return { text: shown.join('\n') + end, isCut, lastLine: Math.max(firstLine, firstLine + shown.length - 1) };
}
