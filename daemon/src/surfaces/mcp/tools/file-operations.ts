/** `sandbox_file_operations`: reads, writes, lists and searches files with the operations of files. */
import { z } from 'zod';
import { leftOut } from '../../../core/files/search/left-out.ts';
import { CoreError } from '../../../kit/errors.ts';
import { hintWith } from '../../../http/route/refusal.ts';
import { EditBody, editFile } from '../../../operations/files/edit.ts';
import { GrepBody, grepFiles, isSilent } from '../../../operations/files/grep.ts';
import { listFiles } from '../../../operations/files/list.ts';
import { readFile } from '../../../operations/files/read.ts';
import { searchFiles } from '../../../operations/files/search.ts';
import { WriteBody, writeFile } from '../../../operations/files/write.ts';
import { perform, tool, type McpDeps, type ToolCall, type ToolResult } from '../app.ts';
import { calls } from '../refusal.ts';
import { grepText } from '../grep-text.ts';
import { shownLines } from '../shown-lines.ts';
import { asLines, footer } from '../text.ts';

const maxResults = 200;
/** Names of files that a search has left out. */
const maxNamed = 10;

const Input = z.object({
  action: z.enum(['read', 'write', 'replace', 'search', 'find', 'list', 'grep', 'glob']),
  path: readFile.input.shape.path.describe('A file or directory; relative paths begin in the workspace.'),
  content: WriteBody.shape.content.optional().describe('write'),
  append: z.boolean().optional().describe('write: add to the end.'),
  encoding: z.enum(['utf-8', 'base64']).optional().describe('read, write'),
  start_line: readFile.input.shape.start_line.describe('read: first line, from 0.'),
  end_line: readFile.input.shape.end_line.describe('read: line to end before.'),
  old_str: z.string().optional().describe('replace: the exact text.'),
  new_str: z.string().optional().describe('replace'),
  replace_mode: EditBody.shape.replace_mode.describe('replace: when old_str occurs more than once.'),
  pattern: z.string().optional().describe('find, glob: a glob. search, grep: a regular expression.'),
  recursive: z.boolean().optional().describe('list'),
  show_hidden: z.boolean().optional().describe('list, grep'),
  include: z.array(z.string()).optional().describe('grep: only files of these globs.'),
  case_insensitive: z.boolean().optional().describe('search, grep'),
  fixed_strings: z.boolean().optional().describe('search, grep: plain text.'),
  multiline: z.boolean().optional().describe('search, grep'),
  context: z.int().min(0).max(20).optional().describe('search, grep: lines around a match.'),
  max_results: GrepBody.shape.max_results.unwrap().max(1000).optional().describe(`Default ${maxResults}.`),
  offset: z.int().min(0).optional().describe('search, grep, find, glob, list: results to pass over.'),
});
type Input = z.output<typeof Input>;

const Output = z.object({
  action: Input.shape.action,
  path: z.string(),
  content: readFile.output.shape.content.optional(),
  line_count: readFile.output.shape.line_count.optional(),
  size: readFile.output.shape.size.optional(),
  bytes_written: writeFile.output.shape.bytes_written.optional(),
  output: editFile.output.shape.output.optional(),
  files: z.array(z.string()).optional().describe('Absolute paths; directories end in /.'),
  matches: grepFiles.output.shape.matches.optional(),
  total_count: z.int().optional(),
  skipped: grepFiles.output.shape.skipped.optional(),
  truncated: z.boolean().describe('There is more; the text says how to get it.'),
});
type Result = Promise<ToolResult<z.input<typeof Output>>>;

export const fileOperations = tool({
  name: 'sandbox_file_operations',
  title: 'Read, write and search files',
  description:
    'Work with files. read: text, in parts if long. write: whole file, makes parents. replace: one exact text. ' +
    'list: a directory. find, glob: files by name or path. search, grep: lines of a file or a tree.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  input: Input,
  output: Output,
  run: (deps, input, call) => actions[input.action](deps, input, call),
});

type Action = (deps: McpDeps, input: Input, call: ToolCall) => Result;

const actions: Readonly<Record<Input['action'], Action>> = {
  read,
  write,
  replace,
  list,
  search: grep,
  grep,
  find: findFiles,
  glob: findFiles,
};

async function read(deps: McpDeps, input: Input, call: ToolCall): Result {
  const { path, start_line, end_line, encoding } = input;
  const found = await perform(readFile, deps, { path, start_line, end_line, encoding }, call);
  const { size, line_count } = found;
  const first = Math.min(start_line ?? 0, line_count ?? 0);
  const { text, isCut, lastLine } = shownLines(found.content, first, { isNumbered: false });
  const range = line_count === null ? null : rangeOf(found.content, first, lastLine, line_count);
  const rest = isCut ? `continue with start_line ${lastLine + 1}` : null;
  return {
    text: `${asLines(text)}${footer(found.path, range, `${size} bytes`, rest)}`,
    data: { action: input.action, path: found.path, content: text, line_count, size, truncated: isCut },
  };
}

/** Counted from 1, as editors show lines. A part also names the arguments that read it, because these count from 0. */
function rangeOf(content: string, first: number, lastLine: number, lineCount: number): string {
  if (content === '') return `no lines of ${lineCount}`;
  const end = lastLine + 1;
  const isWhole = first === 0 && end === lineCount;
  return `lines ${first + 1}-${end} of ${lineCount}${isWhole ? '' : `: start_line ${first}, end_line ${end}`}`;
}

async function write(deps: McpDeps, input: Input, call: ToolCall): Result {
  const { path, content, append, encoding } = input;
  const written = await perform(writeFile, deps, { path, content, append, encoding }, call);
  const { bytes_written, size } = written;
  return {
    text: footer(written.path, `${bytes_written} bytes written`, `the file has ${size} bytes`),
    data: { action: input.action, path: written.path, bytes_written, size, truncated: false },
  };
}

async function replace(deps: McpDeps, input: Input, call: ToolCall): Result {
  const { path, old_str, new_str, replace_mode } = input;
  if (old_str === undefined) throw new CoreError('bad_argument', 'old_str is required with action replace');
  const edited = await perform(editFile, deps, { path, command: 'str_replace', old_str, new_str, replace_mode }, call);
  return {
    text: `${asLines(edited.output)}${footer(edited.path, 'edited')}`,
    data: { action: input.action, path: edited.path, output: edited.output, truncated: false },
  };
}

async function list(deps: McpDeps, input: Input, call: ToolCall): Result {
  const { path, recursive, show_hidden, max_results: limit = maxResults, offset = 0 } = input;
  const found = await perform(listFiles, deps, { path, recursive, show_hidden }, call);
  const names = found.files.map((file) => (file.is_directory ? `${file.path}/` : file.path));
  return paths(input, { ...found, files: names, offset, limit }, 'show_hidden lists them');
}

async function findFiles(deps: McpDeps, input: Input, call: ToolCall): Result {
  const { path, pattern, max_results: limit = maxResults, offset = 0 } = input;
  const found = await perform(searchFiles, deps, { path, pattern }, call);
  return paths(input, { ...found, offset, limit }, 'a pattern such as .* names them');
}

type Found = z.input<typeof searchFiles.output>;

interface Page extends Omit<Found, 'pattern' | 'truncated' | 'next_cursor' | 'ignored_count'> {
  readonly offset: number;
  readonly limit: number;
}

function paths({ action }: Input, page: Page, howToSeeHidden: string): Awaited<Result> {
  const { path, files, total_count, offset, limit, skipped, skipped_count, link_count, hidden_count } = page;
  const shown = files.slice(offset, offset + limit);
  const next = offset + shown.length;
  const truncated = next < total_count;
  const rest = !truncated
    ? null
    : next < files.length
      ? `continue with offset ${next}`
      : `only the first ${files.length} can be listed here; a narrower path or pattern lists the rest`;
  const unread = skipped_count === 0 ? null : `${skipped_count} could not be read, ${skipped[0]?.path} first`;
  const hidden = hidden_count === 0 ? null : `${hidden_count} hidden left out, ${howToSeeHidden}`;
  const links = link_count === 0 ? null : `${link_count} linked directories not entered`;
  return {
    text: `${asLines(shown.join('\n'))}${footer(path, `${shown.length} of ${total_count}`, rest, unread, links, hidden)}`,
    data: { action, path, files: [...shown], total_count, truncated, skipped: [...skipped] },
  };
}

async function grep(deps: McpDeps, input: Input, call: ToolCall): Result {
  const { path, pattern, include, case_insensitive, fixed_strings, multiline, show_hidden, context, offset } = input;
  const fields = { path, pattern, include, case_insensitive, fixed_strings, multiline, show_hidden, offset };
  const shown = { context_before: context, context_after: context, max_results: input.max_results ?? maxResults };
  const found = await perform(grepFiles, deps, { ...fields, ...shown }, call);
  const { matches, files_matched, truncated, skipped } = found;
  const rest = truncated ? `continue with offset ${(offset ?? 0) + matches.length}` : null;
  const counts = `${matches.length} ${matches.length === 1 ? 'match' : 'matches'} in ${files_matched} ${files_matched === 1 ? 'file' : 'files'}`;
  return {
    text: `${asLines(grepText(matches))}${footer(found.path, counts, rest)}${leftOutText(found, show_hidden ?? false)}`,
    data: { action: input.action, path: found.path, matches, total_count: matches.length, truncated, skipped },
  };
}

/** What the search has left out, with the first names; an empty text when it has left out nothing. */
function leftOutText(found: z.input<typeof grepFiles.output>, showsHidden: boolean): string {
  const { skipped, skipped_count: count, truncated: isTruncated } = found;
  const omitted = leftOut({ errnoNames: skipped.map((one) => one.errno_name), count, isTruncated });
  const names = skipped.slice(0, maxNamed).map(({ path }) => path);
  if (omitted) return `\n${[hintWith(omitted.hint, omitted.next, calls), ...names].join(' ')}`;
  if (!isSilent(found)) return '';
  return `\n${showsHidden ? 'Ignored' : 'Hidden (without show_hidden) and ignored'} names were not searched.`;
}
