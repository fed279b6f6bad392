/** What both engines of grep are asked, and what they answer. */

export interface GrepQuery {
  /** A directory, or with `fileName` the one that holds the file. */
  readonly root: string;
  /** The one file that is searched, whatever the filters say; null searches the tree. */
  readonly fileName: string | null;
  readonly pattern: string;
  readonly isFixed: boolean;
  readonly isCaseInsensitive: boolean;
  /** A match may span lines, and `.` matches their ends. */
  readonly isMultiline: boolean;
  /** Look-ahead and look-behind are known, and `\Z`, as in the patterns of Python: only the built-in engine can. */
  readonly hasLookAround: boolean;
  /** A line that is longer than anybody reads is cut around its match. */
  readonly cutsLines: boolean;
  /** Globs as in .gitignore files: only files that one of them names, hidden and ignored ones too. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** A name of the table in `types.ts`. */
  readonly type: string | null;
  readonly linesBefore: number;
  readonly linesAfter: number;
  /** Larger files are left out. */
  readonly maxFileBytes: number;
  readonly isRecursive: boolean;
  readonly searchesHidden: boolean;
  /** .gitignore files within repositories, .ignore and .rgignore files everywhere. */
  readonly obeysIgnoreFiles: boolean;
  /** The first so many in the order of the tree. */
  readonly limit: number;
}

export interface GrepMatch {
  /** Absolute. */
  readonly path: string;
  /** Of its first line; from 1. */
  readonly lineNumber: number;
  /** Its lines without the last line end. */
  readonly content: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

export interface GrepFound {
  /** In the order of the tree, `limit` at most. */
  readonly matches: readonly GrepMatch[];
  /** Files that were looked at; null where that was not counted, as it is when the limit ended the search. */
  readonly filesSearched: number | null;
}

export type GrepEngine = 'ripgrep' | 'built-in';

export interface GrepBackend {
  readonly name: GrepEngine;
  /** Throws `PatternError`. Ends early when the signal aborts. */
  search(query: GrepQuery, signal: AbortSignal): Promise<GrepFound>;
}

/** The pattern, a glob or the type is none, or the pattern takes too long; the message says which, in the words of the engine. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

/** More of a line than anybody reads. */
const longestLine = 2000;
const shownBeforeMatch = 500;
/** A line longer than this is shown from its beginning, wherever the match is. */
const longestSearchedLine = 1024 * 1024;

/** The line or the lines of a match. */
export function showMatch(text: string, matchAt: number, { cutsLines }: Pick<GrepQuery, 'cutsLines'>): string {
  return cutsLines ? showLines(text, matchAt) : text.replace(/\r?\n$/, '');
}

/** The line end goes, and what is too long is cut around the match, with a marker at each cut. */
export function showLines(text: string, matchAt = 0): string {
  const line = text.replace(/\r?\n$/, '');
  if (line.length <= longestLine) return line;
  const at = line.length > longestSearchedLine ? 0 : matchAt;
  const from = wholeAt(line, at < longestLine - shownBeforeMatch ? 0 : at - shownBeforeMatch);
  const to = wholeAt(line, Math.min(line.length, from + longestLine));
  const before = from === 0 ? '' : `[… ${from} characters] `;
  const after = to === line.length ? '' : ` [${line.length - to} characters …]`;
  return before + line.slice(from, to) + after;
}

/** Not within a pair of surrogates. */
function wholeAt(text: string, at: number): number {
  const isWithin = /[\udc00-\udfff]/.test(text.charAt(at)) && /[\ud800-\udbff]/.test(text.charAt(at - 1));
  return isWithin ? at - 1 : at;
}
