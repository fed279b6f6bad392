/** Refuses the views of office files, which 1.x had, and renders what the editor shows. */
import type { ViewedDirectory, ViewedFile } from '../../core/files/editor/view.ts';
import { unreadable } from './file-views.ts';
import { CoreError } from '../../kit/errors.ts';
import { showPath } from '../../kit/text/path-text.ts';
import { editorResult, type EditorBody, type EditorResult } from './editor-shapes.ts';
import * as texts from './editor-texts.ts';

const officeFile = /\.(pdf|docx|xlsx|pptx)$/i;

/** 1.x could show office files and ranges of them. Throws `bad_argument`. */
export function refuseForeignViews(path: string, body: EditorBody): void {
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

export function fileView(viewed: ViewedFile, tellsMetadata: boolean): EditorResult {
  const { text, firstLine, lineCount, isPastEnd, isWhole } = viewed;
  const path = showPath(viewed.path);
  const note = isPastEnd ? `\nNOTE: the file has ${lineCount} lines, and the last of them is shown last.\n` : '';
  return editorResult({
    path,
    output: (isWhole ? texts.numberedWhole(path, text) : texts.numbered(path, text, firstLine)) + note,
    metadata: tellsMetadata ? { total_lines: lineCount } : null,
  });
}

export function directoryView({ path, names, hiddenCount, skipped, skippedCount }: ViewedDirectory): EditorResult {
  const root = showPath(path);
  const shown = [root === '/' ? root : `${root}/`, ...names.map(showPath)];
  return editorResult({
    path: root,
    output: texts.tree(root, shown, hiddenCount, unreadable({ skipped, skippedCount })),
  });
}
