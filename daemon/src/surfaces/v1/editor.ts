/** The 1.x editor, which agents drive with the commands view, create, str_replace, insert and undo_edit. */
import { runEditor, type EditorOutcome, type EditorRequest } from '../../core/files/editor/editor.ts';
import { showPath } from '../../kit/text/path-text.ts';
import { absolutePath, asRefusal, required } from './editor-refusals.ts';
import { EditorBody, EditorResult, editorResult, type EditorCommand } from './editor-shapes.ts';
import * as texts from './editor-texts.ts';
import { directoryView, fileView, refuseForeignViews } from './editor-view.ts';
import { editorCodes, orFailure, route } from './file-failures.ts';
import { pathOf } from './file-inputs.ts';

export const strReplaceEditor = route({
  operation: 'files.str_replace_editor_v1',
  method: 'POST',
  path: '/v1/file/str_replace_editor',
  summary: 'View, create and edit a text file, as the tool of an agent',
  body: EditorBody,
  data: orFailure(EditorResult),
  errors: editorCodes,
  async handle({ files }, { body, context }) {
    const path = absolutePath(pathOf(body));
    try {
      const outcome = await runEditor(files, requests[body.command](path, body), context.signal);
      return resultOf(outcome, body.enable_metadata === true);
    } catch (error) {
      throw asRefusal(error, path, body);
    }
  },
});

type Read = (path: string, body: EditorBody) => EditorRequest;

const requests: Readonly<Record<EditorCommand, Read>> = {
  view(path, body) {
    refuseForeignViews(path, body);
    return { command: 'view', path, range: body.view_range ?? [] };
  },

  create(path, { command, file_text: text }) {
    return { command: 'create', path, text: required(text, 'file_text', path, command) };
  },

  str_replace(path, { command, old_str: oldStr, new_str: newStr, replace_mode: mode }) {
    const oldText = required(oldStr, 'old_str', path, command);
    return { command: 'replace', path, oldText, newText: newStr ?? '', mode: mode ?? null };
  },

  insert(path, { command, insert_line: insertLine, new_str: newStr }) {
    const line = required(insertLine, 'insert_line', path, command);
    return { command: 'insert', path, line, newText: required(newStr, 'new_str', path, command) };
  },

  undo_edit(path) {
    return { command: 'undo', path };
  },
};

function resultOf(outcome: EditorOutcome, tellsMetadata: boolean): EditorResult {
  if (outcome.kind === 'file') return fileView(outcome, tellsMetadata);
  if (outcome.kind === 'directory') return directoryView(outcome);
  const path = showPath(outcome.path);
  switch (outcome.kind) {
    case 'created':
      return editorResult({ path, output: texts.created(path), prev_exist: false, new_content: outcome.newContent });
    case 'edited':
      return editorResult({ path, output: texts.edited(path, outcome.output), ...contents(outcome) });
    case 'undone':
      return editorResult({ path, output: texts.undone(path, outcome.newContent), ...contents(outcome) });
    case 'removed':
      return editorResult({ path, output: texts.creationUndone(path), old_content: outcome.oldContent });
  }
}

function contents({ oldContent, newContent }: { readonly oldContent: string; readonly newContent: string }) {
  return { old_content: oldContent, new_content: newContent };
}
