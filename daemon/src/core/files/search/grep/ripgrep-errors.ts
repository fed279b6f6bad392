/** Reads what ripgrep prints on standard error about a query and about files. */
import { constants } from 'node:os';
import type { Skipped } from '../../tree/skipped.ts';
import { join } from '../gitignore.ts';
import { PatternError } from './query.ts';

const newlineWords = 'the literal "\\n" is not allowed in a regex';

/** The refusal of a pattern that contains a line end, in a search by line. */
export function newlineRefusal(): PatternError {
  return badPattern(newlineWords, 0, '');
}

/** Ripgrep encloses the pattern in a group, and indents it by four columns. */
const groupStart = '(?:';

/** The refusal of a pattern or glob, with the position in the pattern if ripgrep names it. */
export function refusalIn(stderr: string, pattern: string): PatternError {
  const backtracking = /^rg: PCRE2: error compiling pattern at offset (\d+): (.+)$/m.exec(stderr);
  if (backtracking) return badPattern(backtracking[2] ?? '', Number(backtracking[1]), pattern);
  const glob = /^rg: error parsing glob '(.*)': (.+)$/m.exec(stderr);
  if (glob) return new PatternError(`${JSON.stringify(glob[1]?.replace(/^!/, ''))} is not a glob: ${glob[2]}`);
  const [, indent = ''] = /^ {4}( *)\^/m.exec(stderr) ?? [];
  const words = /^error: (.+)$/m.exec(stderr)?.[1] ?? stderr.split('\n', 1)[0]?.replace('rg: ', '');
  if (!words) throw new Error('ripgrep ended without a summary and without an error');
  return badPattern(words, indent.length, pattern);
}

function badPattern(words: string, offset: number, pattern: string): PatternError {
  const at = offset - groupStart.length;
  const place = at < 0 || at > pattern.length || pattern.includes('\n') ? '' : `, at character ${at + 1}`;
  return new PatternError(`the pattern does not compile: ${words}${place}`, words === newlineWords);
}

/** The path of the file in which backtracking was given up; null when there is none. */
export function slowFileIn(stderr: string): string | null {
  return /^rg: \.\/(.+): PCRE2: error matching: /m.exec(stderr)?.[1] ?? null;
}

/** Ripgrep prints `rg: ./path: Permission denied (os error 13)`. */
export function* unreadableIn(stderr: string, root: string): Generator<Skipped> {
  for (const [, path = '', errno] of stderr.matchAll(/^rg: (?:\.\/)?(.+): [^:]* \(os error (\d+)\)$/gm)) {
    const [errnoName = 'EIO'] = Object.entries(constants.errno).find(([, number]) => number === Number(errno)) ?? [];
    if (errnoName !== 'ENOENT') yield { path: join(root, path), errnoName };
  }
}
