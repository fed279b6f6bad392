/** Renders the changes in a text as `diff -u` prints them. */
/** Maximum number of removed and added lines. The search takes quadratic time and blocks the event loop. */
const maxChanges = 2000;

/** null when the texts differ in more lines. */
export async function unifiedDiff(path: string, before: string, after: string): Promise<string | null> {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import('diff'); // Loaded late, for a fast start.
  const options = { maxEditLength: maxChanges, headerOptions: FILE_HEADERS_ONLY };
  return createTwoFilesPatch(path, path, before, after, undefined, undefined, options) ?? null;
}
