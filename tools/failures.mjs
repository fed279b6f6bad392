/** Extracts the failed tests from the output of `bun test`, to repeat them at the end of a long log. */

export const shownLines = 30;

/**
 * `output` is the runner's plain text. Returns each failed test with its file, its title and its last lines of output.
 */
export function failuresIn(output) {
  const failures = [];
  let file = '';
  let lines = [];
  for (const line of output.split('\n')) {
    if (/^\d+ tests? failed:$/.test(line)) break; // From here on the runner repeats the titles.
    if (/^\S+\.test\.ts:$/.test(line)) {
      file = line.slice(0, -1);
      lines = [];
    } else if (line.startsWith('(fail) ')) {
      const title = line.slice('(fail) '.length);
      failures.push({ file, title, lines: lines.slice(-shownLines) });
      lines = [];
    } else if (/^\((pass|skip|todo)\) /.test(line)) {
      lines = [];
    } else if (/^ {2}\^ /.test(line) && lines.length === 0) {
      failures.at(-1)?.lines.push(line);
    } else {
      lines.push(line);
    }
  }
  return failures;
}
