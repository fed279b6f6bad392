/** The texts that the editor shows to a model: numbered lines and the sentences around them. */
import { numberLines } from '../../core/files/write/edit-text.ts';
import { takeCharacters } from '../../kit/text/text.ts';

const maxCharacters = 16_000;
const clipped =
  `<response clipped><NOTE>Only the first ${maxCharacters} characters are shown. ` +
  'Find the lines with POST /v1/file/grep, and view those with view_range.</NOTE>';

/** Formats a range of lines like `cat -n`, and clips a text that is too long. */
export function numbered(what: string, text: string, firstLine: number): string {
  return `Here's the result of running \`cat -n\` on ${what}:\n${numberLines(clip(text), firstLine)}\n`;
}

/** In 1.x, a whole file that ends with a newline shows one more, empty line. */
export function numberedWhole(what: string, text: string): string {
  return numbered(what, text + (/[\r\n]$/.exec(text)?.[0] ?? ''), 1);
}

export function clip(text: string): string {
  const shown = takeCharacters(text, maxCharacters, 'start');
  return shown.length === text.length ? text : shown + clipped;
}

export const noDifference = 'No replacement was performed: `new_str` and `old_str` must be different.';

export function created(path: string): string {
  return `File created successfully at: ${path}`;
}

/** `snippet` already has line numbers. */
export function edited(path: string, snippet: string): string {
  return (
    `The file ${path} has been edited. Here's the result of running \`cat -n\` on a snippet of ${path}:\n` +
    `${snippet}\n` +
    'Review the changes and make sure they are as expected. Edit the file again if necessary.'
  );
}

export function undone(path: string, text: string): string {
  return `Last edit to ${path} undone successfully. ${numberedWhole(path, text)}`;
}

export function creationUndone(path: string): string {
  return `Last edit to ${path} undone successfully: it was the creation of the file, which is gone.`;
}

export function tree(path: string, entries: readonly string[], hiddenCount: number, unread: string | null): string {
  const heading = `Here's the files and directories up to 2 levels deep in ${path}, excluding hidden items:\n`;
  const hidden = `\n\n${hiddenCount} hidden files/directories in this directory are excluded.`;
  return (
    heading +
    clip(entries.join('\n')) +
    (hiddenCount > 0 ? hidden : '') +
    (unread === null ? '' : `\n\n${unread}`) +
    '\n'
  );
}
