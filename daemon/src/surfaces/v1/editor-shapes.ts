/** What the editor of 1.x takes and answers. */
import { z } from 'zod';
import { replaceModes } from '../../core/files/edit-text.ts';
import { bodyWithPath } from './file-inputs.ts';

const range = z.array(z.number().int());
const ofOffice = range.nullish().describe('Of office files, which are not served here.');

export const EditorRequest = bodyWithPath('path', {
  command: z.enum(['view', 'create', 'str_replace', 'insert', 'undo_edit']),
  file_text: z.string().nullish().describe('Of create.'),
  old_str: z.string().nullish().describe('Of str_replace.'),
  new_str: z.string().nullish().describe('Of str_replace, where nothing takes the text out, and of insert.'),
  insert_line: z.number().int().nullish().describe('Of insert: behind this line, counted from 1; 0 is the top.'),
  view_range: range.nullable().default([]).describe('Of view: the first and the last line, from 1; -1 is the end.'),
  replace_mode: z.enum(replaceModes).nullish().describe('Of str_replace; without it the text has to be unique.'),
  page_range: ofOffice,
  sheet_name: z.string().nullish(),
  row_range: ofOffice,
  slide_range: ofOffice,
  enable_metadata: z.boolean().nullable().default(false),
}).meta({ id: 'StrReplaceEditorRequest' });
export type EditorRequest = z.output<typeof EditorRequest>;
export type EditorCommand = EditorRequest['command'];

export const EditorResult = z
  .object({
    output: z.string().describe('As a model reads it.'),
    error: z.string().nullable(),
    path: z.string(),
    prev_exist: z.boolean(),
    old_content: z.string().nullable(),
    new_content: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: 'StrReplaceEditorResult' });
export type EditorResult = z.input<typeof EditorResult>;

/** Every key that 1.x has. */
export function editorResult(known: Partial<EditorResult> & Pick<EditorResult, 'path' | 'output'>): EditorResult {
  return { error: null, prev_exist: true, old_content: null, new_content: null, metadata: null, ...known };
}
