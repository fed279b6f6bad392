/** What the editor shows: the lines of a file, or the names in a directory. */
import type { FilesContext } from '../../core/files/context.ts';
import { list } from '../../core/files/list.ts';
import { readFile } from '../../core/files/read.ts';
import { statFile } from '../../core/files/stat.ts';
import { CoreError } from '../../kit/errors.ts';
import { showPath } from '../../kit/path-text.ts';
import { invalid } from './editor-refusals.ts';
import { editorResult, type EditorRequest, type EditorResult } from './editor-shapes.ts';
import * as texts from './editor-texts.ts';

const officeFile = /\.(pdf|docx|xlsx|pptx)$/i;

/** 1.x could show office files, and ranges of them. Throws `bad_argument`. */
export function refuseForeignViews(path: string, body: EditorRequest): void {
  const ranges = ['page_range', 'sheet_name', 'row_range', 'slide_range'] as const;
  const asked = ranges.find((name) => (body[name]?.length ?? 0) > 0);
  if (asked !== undefined) throw noOffice(`${asked} is about office files, which cannot be viewed here`);
  const [, extension] = officeFile.exec(path) ?? [];
  if (extension !== undefined) throw noOffice(`a ${extension.toLowerCase()} file cannot be viewed here`);
}

function noOffice(message: string): CoreError {
  const hint = 'Turn it into text with a command, and view that; GET /v1/file/download sends it as it is.';
  return new CoreError('bad_argument', message, { hint });
}

export async function view(
  files: FilesContext,
  path: string,
  body: EditorRequest,
  signal: AbortSignal,
): Promise<EditorResult> {
  const { isDirectory } = await statFile(files, { path, user: null, followSymlinks: true });
  const range = body.view_range ?? [];
  if (!isDirectory) return viewFile(files, path, range, body.enable_metadata === true);
  if (range.length === 0) return viewDirectory(files, path, signal);
  throw new CoreError('bad_argument', 'view_range is not allowed when path points to a directory', {
    hint: 'Leave it out.',
  });
}

async function viewFile(
  files: FilesContext,
  path: string,
  range: readonly number[],
  tellsMetadata: boolean,
): Promise<EditorResult> {
  const { startLine, endLine } = boundsOf(range, path);
  const read = await readFile(files, { path, user: null, startLine, endLine, encoding: 'utf-8' });
  const lineCount = read.lineCount ?? 0;
  const note = range.length === 0 ? '' : noteOf(range, lineCount, path);
  const shown = showPath(read.path);
  // Of a range the line end of its last line is not shown as a line of its own.
  const text = range.length === 0 ? read.content : read.content.replace(/\r?\n$/, '');
  return editorResult({
    path: shown,
    output: texts.numbered(shown, text, (startLine ?? 0) + 1) + note,
    metadata: tellsMetadata ? { total_lines: lineCount } : null,
  });
}

/** Null where the file begins and where it ends. */
function boundsOf(range: readonly number[], path: string): { startLine: number | null; endLine: number | null } {
  if (range.length === 0) return { startLine: null, endLine: null };
  const [first, last] = range;
  if (range.length !== 2 || first === undefined || last === undefined) {
    throw invalidRange(range, 'It should be a list of two integers.', path);
  }
  if (first < 1) throw invalidRange(range, `Its first element \`${first}\` should be the number of a line.`, path);
  if (last !== -1 && last < first) {
    const problem = `Its second element \`${last}\` should not be less than the first element \`${first}\`.`;
    throw invalidRange(range, problem, path);
  }
  return { startLine: first - 1, endLine: last === -1 ? null : last };
}

/** What is to be said of a range that goes past the end. */
function noteOf(range: readonly number[], lineCount: number, path: string): string {
  const [first = 1, last = -1] = range;
  if (first > lineCount) {
    const problem = `Its first element \`${first}\` should be within the lines of the file: [1, ${lineCount}].`;
    throw invalidRange(range, problem, path);
  }
  return last > lineCount ? `\nNOTE: the file has ${lineCount} lines, and the last of them is shown last.\n` : '';
}

function invalidRange(range: readonly number[], problem: string, path: string): Error {
  return invalid('view_range', `[${range.join(', ')}]`, problem, path);
}

/** More names than an answer has room for. */
const mostNames = 8000;

async function viewDirectory(files: FilesContext, path: string, signal: AbortSignal): Promise<EditorResult> {
  const request = {
    path,
    user: null,
    obeysGitignore: false,
    extensions: null,
    order: { by: 'path', direction: 'asc' },
    cursor: null,
    limit: mostNames,
  } as const;
  const seen = await list(files, { ...request, isRecursive: true, maxDepth: 2, showsHidden: false }, signal);
  const [own, shown] = [
    await list(files, { ...request, isRecursive: false, maxDepth: null, showsHidden: true, limit: 1 }, signal),
    await list(files, { ...request, isRecursive: false, maxDepth: null, showsHidden: false, limit: 1 }, signal),
  ];
  const count = (listing: typeof own) => listing.fileCount + listing.directoryCount;
  const root = showPath(seen.path);
  const names = seen.files.map((file) => showPath(file.path) + (file.isDirectory ? '/' : ''));
  const output = texts.tree(root, [root === '/' ? root : `${root}/`, ...names], count(own) - count(shown));
  return editorResult({ path: root, output });
}
