/** Defines the queries and results of grep. */
import type { SkippedSummary } from '../../tree/skipped.ts';

export interface FileType {
  readonly name: string;
  /** Null for a type that the table lacks. */
  readonly globs: readonly string[] | null;
}

export interface GrepQuery {
  /** The directory to search. With `fileName`, the directory of that file. */
  readonly root: string;
  /** Search only this file and ignore the filters; null searches the tree. */
  readonly fileName: string | null;
  readonly pattern: string;
  readonly isFixed: boolean;
  readonly isCaseInsensitive: boolean;
  /** A match may span lines, and `.` matches newlines. */
  readonly isMultiline: boolean;
  /** Support look-around and the rest of PCRE2, as Python patterns need it. */
  readonly hasLookAround: boolean;
  /** Cut a very long line around its match. */
  readonly cutsLines: boolean;
  /** Globs as in .gitignore files. Only files that match a glob are searched, even hidden and ignored files. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly type: FileType | null;
  readonly linesBefore: number;
  readonly linesAfter: number;
  /** Skip larger files; null searches files of any size. */
  readonly maxFileBytes: number | null;
  readonly isRecursive: boolean;
  readonly searchesHidden: boolean;
  /** Obey .gitignore files in repositories, and .ignore and .rgignore files everywhere. */
  readonly obeysIgnoreFiles: boolean;
  /** Return at most this number of matches, in tree order. */
  readonly limit: number;
  /** Number of matches that the caller passes over: of these, only the place is wanted. */
  readonly offset: number;
}

export interface GrepMatch {
  /** Absolute path. */
  readonly path: string;
  /** Line number of the first line, counted from 1. */
  readonly lineNumber: number;
  /** The matching lines, without the last newline. */
  readonly content: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

export interface GrepFound {
  /** Matches in tree order, at most `limit`. */
  readonly matches: readonly GrepMatch[];
  /** Number of searched files; null when not counted, for example when the limit ended the search. */
  readonly filesSearched: number | null;
  /** The first that were not searched: EILSEQ is a binary file that matches, EFBIG a file that is too large. */
  readonly skipped: SkippedSummary['skipped'];
  /** Null when not counted: the limit ended the search, or binary files were passed over without a look. */
  readonly skippedCount: number | null;
  /** Matches were left out because all of them together are too long. */
  readonly isCut: boolean;
}

/** An invalid pattern, glob or type, or too slow a pattern. The message has the wording of ripgrep. */
export class PatternError extends Error {
  override readonly name = 'PatternError';

  constructor(
    message: string,
    /** The pattern needs matches across lines, which were not asked for. */
    readonly isAcrossLines = false,
  ) {
    super(message);
  }
}

/** A line, or a match across lines, does not fit into the memory of a search. */
export class LineTooLong extends Error {
  override readonly name = 'LineTooLong';
}

/** Longer lines are cut. */
const longestLine = 2000;
const shownBeforeMatch = 500;
/** For a longer line, the output shows its beginning, wherever the match is. */
export const longestSearchedLine = 1024 * 1024;

/** Total length of the matches of one answer, lines around them included. The next ones are found by offset. */
export const maxFoundLength = 8 * 1024 * 1024;

/** Counts the characters of an answer, in which a line around several matches is repeated. */
export function lengthOf({ path, content, before, after }: GrepMatch): number {
  return [path, content, ...before, ...after].reduce((sum, line) => sum + lengthOfLine(line), 0);
}

/** An empty line is not free. */
export function lengthOfLine(line: string): number {
  return line.length + 16;
}

export function showMatch(text: string, matchAt: number, { cutsLines }: Pick<GrepQuery, 'cutsLines'>): string {
  return cutsLines ? showLines(text, matchAt) : text.replace(/\r?\n$/, '');
}

/** Removes the newline and cuts a long line around the match, with a marker at each cut. */
export function showLines(text: string, matchAt = 0): string {
  const line = text.replace(/\r?\n$/, '');
  if (line.length <= longestLine) return line;
  const at = line.length > longestSearchedLine ? 0 : matchAt;
  const from = wholeAt(line, at < longestLine - shownBeforeMatch ? 0 : at - shownBeforeMatch);
  const to = wholeAt(line, Math.min(line.length, from + longestLine));
  const before = from === 0 ? '' : `[… ${from} characters] `;
  const after = to === line.length ? '' : ` [${line.length - to} characters …]`;
  return copied(before + line.slice(from, to) + after);
}

/** Shows the beginning of a line of which only the head is known. */
export function showHead(head: string): string {
  return copied(`${head.slice(0, wholeAt(head, longestLine - 100))} [more characters …]`);
}

/** The part of a text would keep the whole text in memory. */
function copied(part: string): string {
  return Buffer.from(part).toString();
}

/** Moves a position that splits a surrogate pair. */
function wholeAt(text: string, at: number): number {
  const isWithin = /[\udc00-\udfff]/.test(text.charAt(at)) && /[\ud800-\udbff]/.test(text.charAt(at - 1));
  return isWithin ? at - 1 : at;
}
