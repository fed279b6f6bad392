/** What failed in a run of `bun test`, read from what it printed, so that the end of a long log tells it again. */

const shownLines = 30;

/** `output` is the runner's plain text; each answer is a failed test: its file, its title, and the last lines it was told with. */
export function failuresIn(output) {
  const failures = [];
  let file = '';
  let lines = [];
  for (const line of output.split('\n')) {
    if (/^\d+ tests? failed:$/.test(line)) break; // The titles again.
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
