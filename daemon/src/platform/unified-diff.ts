/** What changed in a text, as `diff -u` prints it. */
/** Lines that are taken out and put in at most: the search takes the square of it, and the event loop waits. */
const mostChanges = 2000;

/** null where two texts have less in common. */
export async function unifiedDiff(path: string, before: string, after: string): Promise<string | null> {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import('diff'); // With the first edit: a start takes no time for it.
  const options = { maxEditLength: mostChanges, headerOptions: FILE_HEADERS_ONLY };
  return createTwoFilesPatch(path, path, before, after, undefined, undefined, options) ?? null;
}
