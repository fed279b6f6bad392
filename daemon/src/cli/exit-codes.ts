/** The page of `boxkeep help exit-codes`: what the codes mean that several sub-commands share. */
import { wrapped, type Page } from './page.ts';

export const exitCode = { ok: 0, no: 1, timedOut: 124 } as const;

const shared = [
  [0, 'the sub-command has done what it says'],
  [1, 'the answer is no, as the list below says for each sub-command'],
  [2, 'wrong arguments or settings of the daemon'],
  [124, 'a timeout of --timeout ended the command or the code'],
  [125, 'boxkeep itself failed: wrong arguments, no daemon, wrong key; one line on standard error says which'],
  [126, 'the command could not be run'],
  [127, 'the command was not found'],
  ['128 + n', 'signal n ended the command; the next three, where a signal ended boxkeep itself'],
  [129, 'the terminal was closed'],
  [130, 'Ctrl-C'],
  [143, 'SIGTERM'],
  [141, 'the reader of the output has gone'],
] as const;

/** `pages` are those of all sub-commands, by name. */
export function exitCodesText(pages: Readonly<Record<string, Page>>): string {
  const own = Object.entries(pages).flatMap(([name, { exits }]) =>
    exits === undefined ? [] : [[name, exits] as const],
  );
  return `Exit codes\n\n${lines(shared)}\n\nOf single sub-commands\n\n${lines(own)}`;
}

function lines(rows: readonly (readonly [string | number, string])[]): string {
  const width = Math.max(...rows.map(([first]) => String(first).length)) + 4;
  return rows.map(([first, text]) => wrapped(`  ${first}`.padEnd(width) + text, width)).join('\n');
}
