/** What changed in a text, as `diff -u` prints it. */
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';

/** Lines that are taken out and put in at most: the search takes the square of it, and the event loop waits. */
const mostChanges = 2000;

/** null where two texts have less in common. */
export function unifiedDiff(path: string, before: string, after: string): string | null {
  const options = { maxEditLength: mostChanges, headerOptions: FILE_HEADERS_ONLY };
  return createTwoFilesPatch(path, path, before, after, undefined, undefined, options) ?? null;
}
