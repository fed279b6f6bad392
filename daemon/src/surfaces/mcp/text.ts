/** Writes output as a model reads it: cut in the middle where it is long, with the lines that were left out. */
import { showPath } from '../../kit/text/path-text.ts';
import type { SavedOutputs } from './saved-outputs.ts';

/** About 8 000 tokens. */
export const maxCharacters = 30_000;

export interface ShownText {
  readonly text: string;
  readonly isCut: boolean;
  /** The file with the whole text; null when nothing was cut, or when the file could not be written. */
  readonly file: string | null;
}

/** Cuts a long text in the middle, at line ends where there are some, and saves the whole text in a file. */
export async function cutText(text: string, outputs: SavedOutputs): Promise<ShownText> {
  if (text.length <= maxCharacters) return { text, isCut: false, file: null };
  const head = headOf(text, maxCharacters / 2);
  const tail = tailOf(text, maxCharacters / 2);
  const saved = await outputs.save(text);
  const file = saved === null ? null : showPath(saved);
  const from = countLines(head);
  const to = from + countLines(text.slice(head.length, text.length - tail.length));
  const left = `${text.length - head.length - tail.length} characters left out`;
  const where =
    file === null
      ? `${left}; the whole text could not be saved`
      : `${left}: ${file} has all; read it with start_line ${from} and end_line ${to}`;
  return { text: `${head}\n… [${where}] …\n${tail}`, isCut: true, file };
}

function headOf(text: string, length: number): string {
  const head = text.slice(0, length);
  const end = head.lastIndexOf('\n') + 1;
  return end > length / 2 ? head.slice(0, end) : head.toWellFormed(); // A cut may have split a pair of surrogates.
}

function tailOf(text: string, length: number): string {
  const tail = text.slice(-length);
  const start = tail.indexOf('\n') + 1;
  return start > 0 && start < length / 2 ? tail.slice(start) : tail.toWellFormed();
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

const maxLineCharacters = 120;

/** The first line of a text, with an ellipsis where something was left out. */
export function firstLine(text: string): string {
  const line = text.trimStart().split('\n', 1)[0] ?? '';
  const shown = line.slice(0, maxLineCharacters).toWellFormed();
  return shown.length < text.trim().length ? `${shown}…` : shown;
}

/** The facts after the output, in brackets: `[exit 0 · cwd /srv]`. */
export function footer(...facts: readonly (string | null)[]): string {
  return `[${facts.filter((fact) => fact !== null).join(' · ')}]`;
}

/** Ends a text with a newline unless the text is empty. */
export function asLines(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
