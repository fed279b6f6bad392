/** What the editor says to the model that uses it: numbered lines, and a sentence around them. */
import { takeCharacters } from '../../kit/text.ts';

const mostCharacters = 16_000;
const clipped =
  `<response clipped><NOTE>Only the first ${mostCharacters} characters are shown. ` +
  'Find the lines with POST /v1/file/grep, and view those with view_range.</NOTE>';

/** A text as `cat -n` prints it; what is too long is clipped. */
export function numbered(what: string, text: string, firstLine = 1): string {
  const lines = clip(text)
    .split('\n')
    .map((line, i) => `${String(firstLine + i).padStart(6)}\t${line}`);
  return `Here's the result of running \`cat -n\` on ${what}:\n${lines.join('\n')}\n`;
}

export function clip(text: string): string {
  const shown = takeCharacters(text, mostCharacters, 'start');
  return shown.length === text.length ? text : shown + clipped;
}

export const noDifference = 'No replacement was performed: `new_str` and `old_str` must be different.';

export function created(path: string): string {
  return `File created successfully at: ${path}`;
}

/** `snippet` has its line numbers already. */
export function edited(path: string, snippet: string): string {
  return (
    `The file ${path} has been edited. Here's the result of running \`cat -n\` on a snippet of ${path}:\n` +
    `${snippet}\n` +
    'Review the changes and make sure they are as expected. Edit the file again if necessary.'
  );
}

export function undone(path: string, text: string): string {
  return `Last edit to ${path} undone successfully. ${numbered(path, text)}`;
}

export function creationUndone(path: string): string {
  return `Last edit to ${path} undone successfully: it was the creation of the file, which is gone.`;
}

export function tree(path: string, entries: readonly string[], hiddenCount: number): string {
  const told = `Here's the files and directories up to 2 levels deep in ${path}, excluding hidden items:\n`;
  const hidden = `\n\n${hiddenCount} hidden files/directories in this directory are excluded.`;
  return told + clip(entries.join('\n')) + (hiddenCount > 0 ? hidden : '') + '\n';
}
