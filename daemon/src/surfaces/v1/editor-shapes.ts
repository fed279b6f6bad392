/** The request and result shapes of the 1.x editor. */
import { z } from 'zod';
import { replaceModes } from '../../core/files/write/edit-text.ts';
import { namedObject, wholeText } from '../../operations/inputs.ts';
import { bodyWithPath } from './file-inputs.ts';

const range = z.array(z.int());
const ofOffice = range.nullish().describe('For office files, which this server does not support.');

export const EditorBody = bodyWithPath('path', {
  command: z.enum(['view', 'create', 'str_replace', 'insert', 'undo_edit']),
  file_text: wholeText.nullish().describe('For create.'),
  old_str: z.string().nullish().describe('For str_replace.'),
  new_str: wholeText.nullish().describe('For str_replace, where an absent text deletes old_str, and for insert.'),
  insert_line: z.int().nullish().describe('For insert: after this line, counted from 1; 0 is the top.'),
  view_range: range.nullable().default([]).describe('For view: the first and the last line, from 1; -1 is the end.'),
  replace_mode: z
    .enum(replaceModes)
    .nullish()
    .describe('For str_replace; without replace_mode the text must be unique.'),
  page_range: ofOffice,
  sheet_name: z.string().nullish(),
  row_range: ofOffice,
  slide_range: ofOffice,
  enable_metadata: z.boolean().nullable().default(false),
}).meta({ id: 'StrReplaceEditorRequest' });
export type EditorBody = z.output<typeof EditorBody>;
export type EditorCommand = EditorBody['command'];

export const EditorResult = namedObject('StrReplaceEditorResult', {
  output: z.string().describe('As a model reads it.'),
  error: z.string().nullable(),
  path: z.string(),
  prev_exist: z.boolean(),
  old_content: z.string().nullable(),
  new_content: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
});
export type EditorResult = z.input<typeof EditorResult>;

/** The result with every key of 1.x. */
export function editorResult(known: Partial<EditorResult> & Pick<EditorResult, 'path' | 'output'>): EditorResult {
  return { error: null, prev_exist: true, old_content: null, new_content: null, metadata: null, ...known };
}
