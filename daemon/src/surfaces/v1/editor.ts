/** The editor of 1.x, which agents drive with the commands of their tool: view, create, str_replace, insert, undo_edit. */
import { createFile, undoCreation } from '../../core/files/create.ts';
import { editFile } from '../../core/files/edit.ts';
import type { TextEdit } from '../../core/files/edit-text.ts';
import type { FilesContext } from '../../core/files/context.ts';
import { showPath } from '../../kit/path-text.ts';
import { route } from './app.ts';
import { absolutePath, asRefusal, invalid, required } from './editor-refusals.ts';
import { EditorRequest, EditorResult, editorResult, type EditorCommand } from './editor-shapes.ts';
import * as texts from './editor-texts.ts';
import { refuseForeignViews, view } from './editor-view.ts';
import { jsonCodes, orFailure } from './file-failures.ts';
import { pathOf } from './file-inputs.ts';

export const strReplaceEditor = route({
  operation: 'files.str_replace_editor_v1',
  method: 'POST',
  path: '/v1/file/str_replace_editor',
  summary: 'View, create and edit a text file, as the tool of an agent',
  body: EditorRequest,
  data: orFailure(EditorResult),
  errors: jsonCodes,
  async handle({ files }, { body, context }) {
    const path = absolutePath(pathOf(body));
    try {
      if (body.command !== 'view') return await commands[body.command](files, path, body);
      refuseForeignViews(path, body);
      return await view(files, path, body, context.signal);
    } catch (error) {
      throw asRefusal(error, path, body);
    }
  },
});

type Run = (files: FilesContext, path: string, body: EditorRequest) => Promise<EditorResult>;

const commands: Readonly<Record<Exclude<EditorCommand, 'view'>, Run>> = {
  async create(files, path, { command, file_text: fileText }) {
    const text = required(fileText, 'file_text', path, command);
    const created = showPath((await createFile(files, { path, user: null, text })).path);
    return editorResult({ path: created, output: texts.created(created), prev_exist: false, new_content: text });
  },

  async str_replace(files, path, { command, old_str: oldStr, new_str: newStr, replace_mode: mode }) {
    const oldText = required(oldStr, 'old_str', path, command);
    const newText = newStr ?? '';
    if (oldText === '') throw invalid('old_str', '', 'It has no character.', path);
    if (oldText === newText) throw invalid('new_str', newText, texts.noDifference, path);
    return edit(files, path, { kind: 'replace', oldText, newText, mode: mode ?? null });
  },

  async insert(files, path, { command, insert_line: insertLine, new_str: newStr }) {
    const line = required(insertLine, 'insert_line', path, command);
    const newText = required(newStr, 'new_str', path, command);
    if (line < 0) throw invalid('insert_line', String(line), 'It should be 0, the top, or the number of a line.', path);
    // As in 1.x a line end is put behind it, whether it has one or not.
    return edit(files, path, { kind: 'insert', line, newText: `${newText}\n` });
  },

  /** As in 1.x it is taken back whatever others have changed since; what they wrote is in the answer. */
  async undo_edit(files, path) {
    const creation = await undoCreation(files, { path, user: null });
    if (creation) {
      const shown = showPath(creation.path);
      return editorResult({ path: shown, output: texts.creationUndone(shown), old_content: creation.oldContent });
    }
    const undone = await editFile(files, { path, user: null, edits: 'undo', ifMatch: '*', isDryRun: false });
    const shown = showPath(undone.path);
    return editorResult({
      path: shown,
      output: texts.undone(shown, undone.newContent),
      old_content: undone.oldContent,
      new_content: undone.newContent,
    });
  },
};

async function edit(files: FilesContext, path: string, change: TextEdit): Promise<EditorResult> {
  const edited = await editFile(files, { path, user: null, edits: [change], ifMatch: null, isDryRun: false });
  const shown = showPath(edited.path);
  return editorResult({
    path: shown,
    output: texts.edited(shown, edited.output),
    old_content: edited.oldContent,
    new_content: edited.newContent,
  });
}
