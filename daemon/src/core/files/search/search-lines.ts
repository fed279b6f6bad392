/** Finds the lines of one text file that match a pattern, and returns each line in full. */
import { asFileOperation } from '../../../kit/file-failure.ts';
import type { FileRequest, FilesContext } from '../context.ts';
import type { GrepResult } from './grep.ts';
import { openFile } from '../read/open-file.ts';

export interface LineSearchRequest extends FileRequest {
  /** Ripgrep syntax, plus look-around. */
  readonly pattern: string;
}

export interface FoundLines extends Pick<GrepResult, 'skipped' | 'skippedCount'> {
  readonly path: string;
  readonly lines: readonly { /** Counted from 0. */ readonly index: number; readonly text: string }[];
  /** True when more lines match. */
  readonly isTruncated: boolean;
}

/** Maximum number of returned lines. Clients use grep for larger results. */
const maxLines = 100_000;

/** Throws the `FileFailure` of the file, which must be a regular file, or of the pattern, and `capacity_reached`. */
export async function searchLines(
  { paths, grep }: FilesContext,
  { path: asked, user, pattern }: LineSearchRequest,
  signal: AbortSignal,
): Promise<FoundLines> {
  const path = paths.resolve(asked, user);
  await asFileOperation('search', path, async () => {
    await using _file = await openFile(path, 'search');
  });
  const { matches, isTruncated, skipped, skippedCount } = await grep.search(
    { path, user, pattern, ...everyLine },
    signal,
  );
  return {
    path,
    lines: matches.map(({ lineNumber, content }) => ({ index: lineNumber - 1, text: content })),
    isTruncated,
    skipped,
    skippedCount,
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
  maxFileBytes: null,
  isRecursive: false,
  searchesHidden: true,
  obeysIgnoreFiles: false,
  offset: 0,
  maxResults: maxLines,
} as const;
