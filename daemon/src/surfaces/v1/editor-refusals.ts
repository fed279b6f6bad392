/** Why the editor does not do what it is asked for, in the words that agents and their clients know from 1.x. */
import { EditRefusal } from '../../core/files/edit-text.ts';
import { CoreError } from '../../kit/errors.ts';
import { FileFailure, type FileErrorType } from '../../kit/file-failure.ts';
import { takeCharacters } from '../../kit/text.ts';
import type { EditorCommand } from './editor-shapes.ts';

/** As much of a text as a message repeats. */
const mostRepeated = 1000;

interface Asked {
  readonly command: EditorCommand;
  readonly old_str?: string | null | undefined;
  readonly insert_line?: number | null | undefined;
}

/** Relative paths mean nothing to a model that does not know where it is. */
export function absolutePath(path: string): string {
  if (path.startsWith('/') || path.startsWith('file:///')) return path;
  const problem = 'The path should be an absolute path, starting with `/`.';
  throw invalid('path', path, problem, path, 'invalid_path');
}

export function required<T>(value: T | null | undefined, name: string, path: string, command: EditorCommand): T {
  if (value !== null && value !== undefined) return value;
  throw refusal(path, `Parameter \`${name}\` is required for command: ${command}.`);
}

export function invalid(name: string, value: string, problem: string, path: string, type?: FileErrorType): FileFailure {
  return refusal(path, `Invalid \`${name}\` parameter: ${repeat(value)}. ${problem}`, type);
}

function refusal(path: string, message: string, errorType: FileErrorType = 'bad_request'): FileFailure {
  return new FileFailure({
    operation: 'edit',
    path,
    errnoName: 'EINVAL',
    errorType,
    message,
    hint: hints[errorType] ?? hint,
  });
}

const hint = 'Send the command again with what the message asks for.';
const hints: Partial<Record<FileErrorType, string>> = {
  invalid_path: 'Give the whole path, beginning with /.',
};

function repeat(text: string): string {
  const shown = takeCharacters(text, mostRepeated, 'start');
  return shown.length === text.length ? text : `${shown}…`;
}

/** A failure of the core in the words of the editor; what it has none for stays as it is. */
export function asRefusal(error: unknown, asked: string, body: Asked): unknown {
  if (error instanceof CoreError && error.code === 'precondition_failed') return refusal(asked, error.message);
  if (!(error instanceof FileFailure)) return error;
  const { path, errnoName } = error;
  const message = error.cause instanceof EditRefusal ? whyNot(error.cause, path, body) : whatIsThere(error, path, body);
  if (message === null) return error;
  const errorHint = error.hint === null ? {} : { hint: error.hint };
  return new FileFailure({ operation: 'edit', path, errnoName, message, ...errorHint });
}

function whyNot({ reason, message }: EditRefusal, path: string, body: Asked): string {
  const oldText = repeat(body.old_str ?? '');
  switch (reason.kind) {
    case 'absent':
      return `No replacement was performed, old_str \`${oldText}\` did not appear verbatim in ${path}.`;
    case 'ambiguous':
      return (
        `No replacement was performed. Multiple occurrences of old_str \`${oldText}\` in lines ` +
        `[${reason.lines.join(', ')}]. Please ensure it is unique; with replace_mode, multiple occurrences are replaced.`
      );
    case 'behind-end':
      return (
        `Invalid \`insert_line\` parameter: ${body.insert_line}. ` +
        `It should be within the range of allowed values: [0, ${reason.lineCount}]`
      );
    case 'no-history':
      return `No edit history found for ${path}.`;
    case 'too-long':
      return `No replacement was performed: ${message}.`;
  }
}

function whatIsThere({ errnoName }: FileFailure, path: string, { command }: Asked): string | null {
  const of = `Invalid \`path\` parameter: ${path}.`;
  switch (errnoName) {
    case 'ENOENT':
      return command === 'create' ? null : `${of} The path ${path} does not exist. Please provide a valid path.`;
    case 'EEXIST':
      return `${of} File already exists at: ${path}. Cannot overwrite files using command \`create\`.`;
    case 'EISDIR':
      return `${of} The path ${path} is a directory and only the \`view\` command can be used on directories.`;
    default:
      return null;
  }
}
