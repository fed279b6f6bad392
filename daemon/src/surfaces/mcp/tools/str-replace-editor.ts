/** `sandbox_str_replace_editor`: views, creates and edits a text file in the way agents are trained for. */
import { z } from 'zod';
import { runEditor, type EditorOutcome, type EditorRequest } from '../../../core/files/editor/editor.ts';
import { replaceModes } from '../../../core/files/write/edit-text.ts';
import { CoreError } from '../../../kit/errors.ts';
import { showPath } from '../../../kit/text/path-text.ts';
import { filePath } from '../../../operations/files/inputs.ts';
import { wholeText } from '../../../operations/inputs.ts';
import { tool, type ToolResult } from '../app.ts';
import { asLines, footer } from '../text.ts';
import { shownLines } from '../shown-lines.ts';

const Input = z.object({
  command: z.enum(['view', 'create', 'str_replace', 'insert', 'undo_edit']),
  path: filePath.describe('A file, or with view a directory.'),
  file_text: wholeText.optional().describe('create: the content; an existing file is refused.'),
  old_str: z.string().optional().describe('str_replace: the exact text, which occurs once.'),
  new_str: wholeText.optional().describe('str_replace: the replacement. insert: the lines.'),
  insert_line: z.int().min(0).optional().describe('insert: after this line, 0 is the top.'),
  replace_mode: z.enum(replaceModes).optional().describe('str_replace: when old_str occurs more than once.'),
  view_range: z.array(z.int()).optional().describe('view: [first, last], from 1; -1 is the end.'),
});
type Input = z.output<typeof Input>;

const Output = z.object({
  command: Input.shape.command,
  path: z.string(),
  output: z.string().describe('Numbered lines, or the names in a directory.'),
  line_count: z.int().nullable().describe('view: lines of the whole file.'),
  truncated: z.boolean(),
});
type Output = z.input<typeof Output>;

export const strReplaceEditor = tool({
  name: 'sandbox_str_replace_editor',
  title: 'View and edit text files',
  description:
    'View, create and edit text files. view numbers lines; str_replace replaces one exact text; insert adds lines; ' +
    'undo_edit takes the last edit of the file back.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  input: Input,
  output: Output,
  async run({ files }, input, { signal }) {
    return describe(input.command, await runEditor(files, requests[input.command](input), signal));
  },
});

const requests: Readonly<Record<Input['command'], (input: Input) => EditorRequest>> = {
  view: ({ path, view_range: range = [] }) => ({ command: 'view', path, range }),
  create: (input) => ({ command: 'create', path: input.path, text: needed(input, 'file_text') }),
  str_replace: (input) => ({
    command: 'replace',
    path: input.path,
    oldText: needed(input, 'old_str'),
    newText: input.new_str ?? '',
    mode: input.replace_mode ?? null,
  }),
  insert: (input) => ({
    command: 'insert',
    path: input.path,
    line: needed(input, 'insert_line'),
    newText: needed(input, 'new_str').replace(/\n$/, ''),
  }),
  undo_edit: ({ path }) => ({ command: 'undo', path }),
};

function needed<K extends keyof Input>(input: Input, name: K): NonNullable<Input[K]> {
  const value = input[name];
  if (value !== undefined && value !== null) return value;
  throw new CoreError('bad_argument', `${name} is required with command ${input.command}`);
}

function describe(command: Input['command'], outcome: EditorOutcome): ToolResult<Output> {
  const path = showPath(outcome.path);
  const plain = (text: string, fact: string): ToolResult<Output> => ({
    text: `${asLines(text)}${footer(path, fact)}`,
    data: { command, path, output: text, line_count: null, truncated: false },
  });
  switch (outcome.kind) {
    case 'file': {
      const { text, isCut, lastLine } = shownLines(outcome.text, outcome.firstLine, { isNumbered: true });
      const range = `lines ${outcome.firstLine}-${lastLine} of ${outcome.lineCount}`;
      const rest = isCut ? `continue with view_range [${lastLine + 1}, -1]` : null;
      return {
        text: `${asLines(text)}${footer(path, range, rest)}`,
        data: { command, path, output: text, line_count: outcome.lineCount, truncated: isCut },
      };
    }
    case 'directory': {
      const { hiddenCount, skipped, skippedCount } = outcome;
      const [first] = skipped;
      const hidden = hiddenCount === 0 ? '' : `, ${hiddenCount} hidden left out`;
      const unread = first ? `, ${skippedCount} could not be read, ${showPath(first.path)} first` : '';
      return plain(outcome.names.map((name) => showPath(name)).join('\n'), `two levels${hidden}${unread}`);
    }
    case 'created':
      return plain('', 'created');
    case 'edited':
      return plain(outcome.output, 'edited');
    case 'undone':
      return plain(outcome.output, 'the last edit is undone');
    case 'removed':
      return plain('', 'the creation is undone, the file is gone');
  }
}
