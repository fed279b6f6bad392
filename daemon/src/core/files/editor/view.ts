/** Reads the lines of a file or the names in a directory for the editor. */
import type { FilesContext } from '../context.ts';
import { list, type Listing } from '../read/list.ts';
import { readFile } from '../read/read.ts';
import { statFile } from '../read/stat.ts';
import { refuse } from './refuse.ts';

export interface ViewRequest {
  readonly path: string;
  /** The first and the last line, counted from 1; -1 is the end. An empty list is the whole file. */
  readonly range: readonly number[];
}

export interface ViewedFile {
  readonly kind: 'file';
  readonly path: string;
  readonly text: string;
  /** The number of the first line of the text, counted from 1. */
  readonly firstLine: number;
  /** Number of lines of the whole file. */
  readonly lineCount: number;
  /** Whether no range was asked for. */
  readonly isWhole: boolean;
  /** Whether the range extends past the last line. */
  readonly isPastEnd: boolean;
}

export interface ViewedDirectory extends Pick<Listing, 'skipped' | 'skippedCount'> {
  readonly kind: 'directory';
  readonly path: string;
  /** The paths below the directory, two levels deep and without hidden names; those of directories end in `/`. */
  readonly names: readonly string[];
  /** Number of hidden entries in the directory itself. */
  readonly hiddenCount: number;
}

/** Throws the `FileFailure` of the path. Its cause is an `EditRefusal` when the range cannot be shown. */
export async function view(
  files: FilesContext,
  { path, range }: ViewRequest,
  signal: AbortSignal,
): Promise<ViewedFile | ViewedDirectory> {
  const { isDirectory } = await statFile(files, { path, user: null, followSymlinks: true });
  if (!isDirectory) return await viewFile(files, path, range);
  if (range.length > 0) throw refuse(path, { kind: 'range-of-directory' });
  return await viewDirectory(files, path, signal);
}

async function viewFile(files: FilesContext, path: string, range: readonly number[]): Promise<ViewedFile> {
  const { startLine, endLine } = boundsOf(range, path);
  const read = await readFile(files, { path, user: null, startLine, endLine, encoding: 'utf-8' });
  const lineCount = read.lineCount ?? 0;
  const [first = 1, last = -1] = range;
  if (range.length > 0 && first > lineCount) throw refuse(path, { kind: 'range-behind-end', range, lineCount });
  return {
    kind: 'file',
    path: read.path,
    text: read.content,
    firstLine: first,
    lineCount,
    isWhole: range.length === 0,
    isPastEnd: last > lineCount,
  };
}

/** Null stands for the beginning and the end of the file. */
function boundsOf(range: readonly number[], path: string): { startLine: number | null; endLine: number | null } {
  if (range.length === 0) return { startLine: null, endLine: null };
  const [first, last] = range;
  if (range.length !== 2 || first === undefined || last === undefined) {
    throw refuse(path, { kind: 'range-not-two', range });
  }
  if (first < 1) throw refuse(path, { kind: 'range-below-one', range });
  if (last !== -1 && last < first) throw refuse(path, { kind: 'range-reversed', range });
  return { startLine: first - 1, endLine: last === -1 ? null : last };
}

/** More names than an answer has room for. */
const maxNames = 8000;

async function viewDirectory(files: FilesContext, path: string, signal: AbortSignal): Promise<ViewedDirectory> {
  const request = {
    path,
    user: null,
    obeysGitignore: false,
    extensions: null,
    order: { by: 'path', direction: 'asc' },
    cursor: null,
    limit: maxNames,
  } as const;
  const visible = { ...request, showsHidden: false };
  const seen = await list(files, { ...visible, isRecursive: true, maxDepth: 2 }, signal);
  const { hiddenCount } = await list(files, { ...visible, isRecursive: false, maxDepth: null, limit: 1 }, signal);
  return {
    kind: 'directory',
    path: seen.path,
    names: seen.files.map((file) => (file.isDirectory ? `${file.path}/` : file.path)),
    hiddenCount,
    skipped: seen.skipped,
    skippedCount: seen.skippedCount,
  };
}
