/** Prints matches of a search as a model reads them: each path once, and each line once. */
import type { z } from 'zod';
import type { grepFiles } from '../../operations/files/grep.ts';

type ShownMatch = z.output<typeof grepFiles.output>['matches'][number];

interface Line {
  readonly text: string;
  readonly isMatch: boolean;
}

/** The format of `rg --heading`: a colon after the number of a matching line, a dash after that of a line around it. */
export function grepText(matches: readonly ShownMatch[]): string {
  const files = new Map<string, Map<number, Line>>();
  for (const match of matches) {
    const lines = files.get(match.file) ?? new Map<number, Line>();
    files.set(match.file, lines);
    addLines(lines, match);
  }
  const hasContext = matches.some(({ context_before, context_after }) => context_before.length + context_after.length);
  return [...files].map(([file, lines]) => [file, ...shown(lines, hasContext)].join('\n')).join('\n');
}

/** The context of one match may contain another match. */
function addLines(lines: Map<number, Line>, match: ShownMatch): void {
  const { line_number: number, context_before: before, context_after: after } = match;
  const matching = match.line_content.split('\n');
  const around = (texts: readonly string[], from: number) => {
    for (const [i, text] of texts.entries()) if (!lines.has(from + i)) lines.set(from + i, { text, isMatch: false });
  };
  around(before, number - before.length);
  for (const [i, text] of matching.entries()) lines.set(number + i, { text, isMatch: true });
  around(after, number + matching.length);
}

function shown(lines: ReadonlyMap<number, Line>, hasContext: boolean): string[] {
  const output: string[] = [];
  let last: number | null = null;
  for (const [number, { text, isMatch }] of [...lines].toSorted(([a], [b]) => a - b)) {
    if (hasContext && last !== null && number > last + 1) output.push('--');
    output.push(`${number}${isMatch ? ':' : '-'}${text}`);
    last = number;
  }
  return output;
}
