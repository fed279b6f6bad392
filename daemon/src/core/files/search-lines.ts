/** Finds the lines of one text file that match a pattern, each of them whole. */
import { asFileOperation, FileFailure } from '../../kit/file-failure.ts';
import type { FilesContext } from './context.ts';
import { openFile } from './open-file.ts';
import { maxReadBytes } from './read.ts';

export interface LineSearchRequest {
  readonly path: string;
  readonly user: string | null;
  /** In the syntax of ripgrep, with look-around beside it. */
  readonly pattern: string;
}

export interface FoundLines {
  readonly path: string;
  readonly lines: readonly { /** From 0. */ readonly index: number; readonly text: string }[];
  /** There are more. */
  readonly isTruncated: boolean;
}

/** More than anybody reads; a larger file, or more of it, is searched by grep. */
export const mostLines = 100_000;

/** Throws the `FileFailure` of the file, which has to be a regular one, or of the pattern, and `capacity_reached`. */
export async function searchLines(
  { places, grep }: FilesContext,
  { path: asked, user, pattern }: LineSearchRequest,
  signal: AbortSignal,
): Promise<FoundLines> {
  const path = places.resolve(asked, user);
  await asFileOperation('search', path, async () => {
    await using opened = await openFile(path, 'search');
    if (opened.stat.size <= maxReadBytes) return;
    const hint = 'Search it with grep, and a larger max_file_size.';
    throw new FileFailure({ operation: 'search', path, errnoName: 'EFBIG', hint });
  });
  const { matches, isTruncated } = await grep.search({ path, user, pattern, ...everyLine }, signal);
  return {
    path,
    lines: matches.map(({ lineNumber, content }) => ({ index: lineNumber - 1, text: content })),
    isTruncated,
  };
}

const everyLine = {
  isFixed: false,
  isCaseInsensitive: false,
  isMultiline: false,
  hasLookAround: true,
  cutsLines: false,
  include: [],
  exclude: [],
  type: null,
  linesBefore: 0,
  linesAfter: 0,
  maxFileBytes: maxReadBytes,
  isRecursive: false,
  searchesHidden: true,
  obeysIgnoreFiles: false,
  offset: 0,
  maxResults: mostLines,
} as const;
