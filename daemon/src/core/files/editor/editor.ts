/** The editor that agents drive: view, create, replace, insert and undo on one text file at a time. */
import type { FilesContext } from '../context.ts';
import { createFile, undoCreation } from '../write/create.ts';
import { editFile, type EditResult } from '../write/edit.ts';
import type { ReplaceMode, TextEdit } from '../write/edit-text.ts';
import { refuse } from './refuse.ts';
import { view, type ViewRequest, type ViewedDirectory, type ViewedFile } from './view.ts';

export type EditorRequest =
  | ({ readonly command: 'view' } & ViewRequest)
  | { readonly command: 'create'; readonly path: string; readonly text: string }
  | {
      readonly command: 'replace';
      readonly path: string;
      readonly oldText: string;
      readonly newText: string;
      /** null requires exactly one occurrence of the old text. */
      readonly mode: ReplaceMode | null;
    }
  | {
      readonly command: 'insert';
      readonly path: string;
      /** The new lines are inserted after this line, counted from 1. 0 inserts at the top. */
      readonly line: number;
      readonly newText: string;
    }
  | { readonly command: 'undo'; readonly path: string };

export type EditorOutcome =
  | ViewedFile
  | ViewedDirectory
  | { readonly kind: 'created'; readonly path: string; readonly newContent: string }
  | (Changed & { readonly kind: 'edited' })
  | (Changed & { readonly kind: 'undone' })
  /** The last edit was the creation of the file. The file is removed. */
  | { readonly kind: 'removed'; readonly path: string; readonly oldContent: string };

/** The texts before and after a change, and the numbered lines around it. */
type Changed = Pick<EditResult, 'path' | 'output' | 'oldContent' | 'newContent'>;

/** Throws a `FileFailure`. Its cause is an `EditRefusal` when the editor refuses, and not the file system. */
export async function runEditor(
  files: FilesContext,
  request: EditorRequest,
  signal: AbortSignal,
): Promise<EditorOutcome> {
  const path = files.paths.resolve(request.path, null);
  switch (request.command) {
    case 'view':
      return await view(files, { path, range: request.range }, signal);
    case 'create': {
      const created = await createFile(files, { path, user: null, text: request.text });
      return { kind: 'created', path: created.path, newContent: request.text };
    }
    case 'replace': {
      const { oldText, newText, mode } = request;
      if (oldText === '') throw refuse(path, { kind: 'empty-anchor' });
      if (oldText === newText) throw refuse(path, { kind: 'no-difference' });
      return await change(files, path, { kind: 'replace', oldText, newText, mode });
    }
    case 'insert': {
      const { line, newText } = request;
      if (line < 0) throw refuse(path, { kind: 'before-start', line });
      // A line end of the text stands for one more, empty line, as in the editors that agents know.
      return await change(files, path, { kind: 'insert', line, newText: `${newText}\n` });
    }
    case 'undo':
      return await undo(files, path);
  }
}

async function change(files: FilesContext, path: string, edit: TextEdit): Promise<EditorOutcome> {
  const edited = await editFile(files, { path, user: null, edits: [edit], ifMatch: null, isDryRun: false });
  return { kind: 'edited', ...edited };
}

/** The edit is undone even if the file has changed since. The outcome contains the replaced content. */
async function undo(files: FilesContext, path: string): Promise<EditorOutcome> {
  const creation = await undoCreation(files, { path, user: null });
  if (creation) return { kind: 'removed', ...creation };
  const undone = await editFile(files, { path, user: null, edits: 'undo', ifMatch: '*', isDryRun: false });
  return { kind: 'undone', ...undone };
}
