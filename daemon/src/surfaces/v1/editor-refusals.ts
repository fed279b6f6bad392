/** Explains why the editor refuses a request, in the words that 1.x agents and clients know. */
import {
  EditRefusal,
  type ArgumentProblem,
  type RangeProblem,
  type RefusalReason,
} from '../../core/files/write/edit-text.ts';
import { CoreError } from '../../kit/errors.ts';
import { FileFailure, type FileErrorKind } from '../../kit/file-failure.ts';
import { takeCharacters } from '../../kit/text/text.ts';
import type { EditorCommand } from './editor-shapes.ts';
import { noDifference } from './editor-texts.ts';

/** How many characters of a text a message repeats. */
const maxRepeated = 1000;

interface Asked {
  readonly command: EditorCommand;
  readonly old_str?: string | null | undefined;
  readonly new_str?: string | null | undefined;
  readonly insert_line?: number | null | undefined;
}

/** A relative path is ambiguous for a model that does not know its working directory. */
export function absolutePath(path: string): string {
  if (path.startsWith('/') || path.startsWith('file:///')) return path;
  const problem = 'The path should be an absolute path, starting with `/`.';
  throw invalid('path', path, problem, path, 'invalidPath');
}

export function required<T>(value: T | null | undefined, name: string, path: string, command: EditorCommand): T {
  if (value !== null && value !== undefined) return value;
  throw refusal(path, `Parameter \`${name}\` is required for command: ${command}.`);
}

function invalid(name: string, value: string, problem: string, path: string, kind?: FileErrorKind): FileFailure {
  return refusal(path, `Invalid \`${name}\` parameter: ${repeat(value)}. ${problem}`, kind);
}

function refusal(path: string, message: string, kind: FileErrorKind = 'badRequest'): FileFailure {
  return FileFailure.of('edit', path, 'EINVAL', {
    kind,
    message,
    hint: hints[kind] ?? hint,
  });
}

const hint = 'Send the command again with what the message asks for.';
const hints: Partial<Record<FileErrorKind, string>> = {
  invalidPath: 'Give the whole path, beginning with /.',
};

function repeat(text: string): string {
  const shown = takeCharacters(text, maxRepeated, 'start');
  return shown.length === text.length ? text : `${shown}…`;
}

/** Describes a failure of core in the editor's words. Returns other failures unchanged. */
export function asRefusal(error: unknown, asked: string, body: Asked): unknown {
  if (error instanceof CoreError && error.code === 'precondition_failed') return refusal(asked, error.message);
  if (!(error instanceof FileFailure)) return error;
  const { cause, path, errnoName, hint, next } = error;
  const reason = cause instanceof EditRefusal ? cause.reason : null;
  if (reason?.kind === 'argument') return wrongArgument(reason.problem, asked, body);
  const message = reason ? whyNot(reason, error, body) : whatIsThere(error, path, body);
  if (message === null) return error;
  return new FileFailure({ operation: 'edit', path, errnoName, message, hint, next });
}

function wrongArgument(problem: ArgumentProblem, asked: string, body: Asked): CoreError {
  switch (problem.kind) {
    case 'empty-anchor':
      return invalid('old_str', '', 'It has no character.', asked);
    case 'no-difference':
      return invalid('new_str', body.new_str ?? '', noDifference, asked);
    case 'before-start':
      return invalid('insert_line', `${problem.line}`, 'It should be 0, the top, or the number of a line.', asked);
    case 'range-of-directory':
      return new CoreError('bad_argument', 'view_range is not allowed when path points to a directory', {
        hint: 'Leave it out.',
      });
    default:
      return invalid('view_range', `[${problem.range.join(', ')}]`, whyNoRange(problem), asked);
  }
}

function whyNoRange(problem: RangeProblem): string {
  const [first, last] = problem.range;
  switch (problem.kind) {
    case 'range-not-two':
      return 'It should be a list of two integers.';
    case 'range-below-one':
      return `Its first element \`${first}\` should be the number of a line.`;
    case 'range-reversed':
      return `Its second element \`${last}\` should not be less than the first element \`${first}\`.`;
    case 'range-behind-end':
      return `Its first element \`${first}\` should be within the lines of the file: [1, ${problem.lineCount}].`;
  }
}

function whyNot(
  reason: Exclude<RefusalReason, { kind: 'argument' }>,
  { message, path }: FileFailure,
  body: Asked,
): string {
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
