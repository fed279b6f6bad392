/** Edits a text file in one step. */
import { z } from 'zod';
import { editFile as editText } from '../../core/files/write/edit.ts';
import { replaceModes, type TextEdit } from '../../core/files/write/edit-text.ts';
import { CoreError } from '../../kit/errors.ts';
import { snakeKeys } from '../../kit/text/snake-keys.ts';
import { showPath } from '../../kit/text/path-text.ts';
import { namedObject, systemText, wholeText } from '../inputs.ts';
import { fileErrors, filePath, OwnerQuery } from './inputs.ts';
import { operation } from './operation.ts';

const Change = z.object({
  old_str: z.string().min(1).optional().describe('The text to replace; whitespace counts.'),
  new_str: wholeText.default('').describe('The replacement, or the lines to insert.'),
  replace_mode: z
    .enum(replaceModes)
    .optional()
    .describe('Which occurrences are replaced; needed where there is more than one.'),
  insert_line: z.int().min(0).optional().describe('Insert after this line, counted from 1; 0 inserts at the top.'),
});
type Change = z.output<typeof Change>;

/** Commands of other editors that separate operations serve. */
const elsewhere = { view: 'files.read', create: 'files.write' } as const;

export const EditBody = Change.extend({
  path: filePath,
  command: z
    .enum(['str_replace', 'insert', 'undo_edit', 'view', 'create'])
    .optional()
    .describe('Not with edits. view and create are refused, and name the routes to use.'),
  edits: z
    .array(Change)
    .min(1)
    .max(1000)
    .optional()
    .describe('Several changes in order, all or nothing: each replaces old_str or inserts at insert_line.'),
  if_match: systemText.min(1).optional().describe('Edit only while the file has this etag.'),
  dry_run: z.boolean().default(false).describe('Answer what would be, and change nothing.'),
}).meta({ anyOf: [{ required: ['command'] }, { required: ['edits'] }] });
type EditBody = z.output<typeof EditBody>;

export const editFile = operation({
  name: 'files.edit',
  input: EditBody.extend(OwnerQuery.shape),
  output: namedObject('EditedFile', {
    path: z.string(),
    output: z.string().describe('The lines around the first change, numbered.'),
    old_content: z.string(),
    new_content: z.string(),
    prev_exist: z.boolean(),
    replacements: z.int().describe('Occurrences of old_str that were replaced, of all edits; 0 for an undo.'),
    diff: z.string().nullable().describe('Unified; null where too much differs.'),
    etag: z.string().describe('Etag of the file after the edit.'),
  }),
  errors: [...fileErrors, 'file_not_text', 'file_too_large', 'precondition_failed', 'no_space_left'],
  async run({ files }, input) {
    const { path, user = null, if_match: ifMatch = null, dry_run: isDryRun } = input;
    const result = await editText(files, { path, user, edits: editsOf(input), ifMatch, isDryRun });
    return { ...snakeKeys(result), path: showPath(result.path) };
  },
});

function editsOf(body: EditBody): readonly TextEdit[] | 'undo' {
  const { command, edits } = body;
  if (command === 'view' || command === 'create') {
    throw new CoreError('bad_argument', `${command} is not an edit`, { next: { operation: elsewhere[command] } });
  }
  if (edits && command === undefined) return edits.map((change, i) => toEdit(change, `edits.${i}.`));
  if (edits) {
    throw new CoreError('bad_argument', 'command and edits exclude each other', { hint: 'Leave command out.' });
  }
  if (command === 'undo_edit') return 'undo';
  if (command === undefined) {
    throw new CoreError('bad_argument', 'command or edits is needed', {
      hint: 'Send command str_replace, insert or undo_edit, or a list of edits.',
    });
  }
  const { old_str: oldText, insert_line: line, ...change } = body;
  return [
    command === 'insert' ? toEdit({ ...change, insert_line: line }, '') : toEdit({ ...change, old_str: oldText }, ''),
  ];
}

function toEdit(
  { old_str: oldText, new_str: newText, insert_line: line, replace_mode: mode }: Change,
  at: string,
): TextEdit {
  if (oldText !== undefined && line === undefined) return { kind: 'replace', oldText, newText, mode: mode ?? null };
  if (oldText === undefined && line !== undefined) return { kind: 'insert', line, newText };
  throw new CoreError('bad_argument', `${at}old_str or ${at}insert_line is needed, and not both`, {
    hint: 'str_replace takes old_str, insert takes insert_line.',
  });
}
