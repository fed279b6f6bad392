/** The v2 routes that list directories, and find files by name and by content. */
import { z } from 'zod';
import { list, maxPage } from '../../../core/files/read/list.ts';
import type { ListedFile } from '../../../core/files/read/listed-file.ts';
import { directions, sortKeys } from '../../../core/files/read/ordering.ts';
import type { GrepResult } from '../../../core/files/search/grep.ts';
import { leftOut } from '../../../core/files/search/left-out.ts';
import { search, searchKinds } from '../../../core/files/search/search.ts';
import type { SkippedSummary } from '../../../core/files/tree/skipped.ts';
import type { ErrorCode } from '../../../kit/errors.ts';
import { showName, showPath } from '../../../kit/text/path-text.ts';
import { hintWith } from '../../../http/route/refusal.ts';
import { Answer } from '../../../kit/answer.ts';
import { route } from '../app.ts';
import { naming } from '../refusal.ts';
import { systemText } from '../inputs.ts';

const directory = systemText.min(1).describe('The directory; ~ is a home, a relative path begins in the workspace.');
const user = systemText.min(1).optional().describe('The account whose home ~ is; the default account otherwise.');
const ignore = z
  .enum(['none', 'gitignore'])
  .default('none')
  .describe('gitignore leaves out what .gitignore files name, and .git itself.');

const skippedShape = {
  skipped: z
    .array(z.object({ path: z.string(), errno_name: z.string() }))
    .describe('Directories that could not be read, the first 100.'),
  skipped_count: z.number().int(),
  ignored_count: z.number().int().describe('Entries that ignore=gitignore left out, without what is below them.'),
  link_count: z.number().int().describe('Links to directories that were not entered.'),
};

const lookingFails = [
  'bad_argument',
  'unavailable',
  'file_not_found',
  'file_permission_denied',
  'file_invalid_path',
  'file_bad_request',
  'file_io_error',
  'capacity_reached',
] as const satisfies readonly ErrorCode[];

const FileEntry = z
  .object({
    name: z.string(),
    path: z.string().describe('Absolute; a file URL where the name is not UTF-8, which every route takes as a path.'),
    is_directory: z.boolean().describe('True for a directory, or a link to a directory.'),
    is_symlink: z.boolean(),
    size: z.number().int().nullable().describe('Bytes; null when it is unknown.'),
    extension: z.string().describe('The extension with its dot; empty without one.'),
    modified_time: z.string().nullable().describe('RFC 3339, UTC.'),
    is_hidden: z.boolean().describe('The name begins with a dot.'),
  })
  .meta({ id: 'FileEntry' });

export const listFiles = route({
  operation: 'files.list',
  method: 'GET',
  path: '/v2/fs/list',
  summary: 'List a directory or a tree, 10 000 entries at a time',
  query: z.object({
    path: directory,
    user,
    recursive: z.boolean().default(false),
    max_depth: z.number().int().min(1).optional().describe('With recursive; 1 is the directory alone.'),
    show_hidden: z.boolean().default(true),
    sort: z.enum(sortKeys).default('path').describe('path is the order of the tree: name by name.'),
    order: z.enum(directions).default('asc'),
    limit: z.number().int().min(1).max(maxPage).default(maxPage).describe('Entries in this answer.'),
    cursor: z.string().min(1).optional().describe('next_cursor of the answer before this one.'),
    ignore,
  }),
  data: z.object({
    path: z.string(),
    files: z.array(FileEntry),
    total_count: z.number().int().describe('Entries in the whole listing, not only in this answer.'),
    file_count: z.number().int(),
    directory_count: z.number().int(),
    truncated: z.boolean().describe('More follows: continue with next_cursor.'),
    next_cursor: z.string().nullable(),
    hidden_count: z.number().int().describe('Names that show_hidden=false left out, without what is below them.'),
    ...skippedShape,
  }),
  errors: lookingFails,
  async handle({ files }, { query, context }) {
    const request = {
      path: query.path,
      user: query.user ?? null,
      isRecursive: query.recursive,
      maxDepth: query.max_depth ?? null,
      showsHidden: query.show_hidden,
      obeysGitignore: query.ignore === 'gitignore',
      extensions: null,
      order: { by: query.sort, direction: query.order },
      cursor: query.cursor ?? null,
      limit: query.limit,
    };
    const listing = await list(files, request, context.signal);
    const data = {
      path: showPath(listing.path),
      files: listing.files.map(fileEntry),
      total_count: listing.fileCount + listing.directoryCount,
      file_count: listing.fileCount,
      directory_count: listing.directoryCount,
      truncated: listing.nextCursor !== null,
      next_cursor: listing.nextCursor,
      hidden_count: listing.hiddenCount,
      ...skippedView(listing),
    };
    return new Answer(data, { hint: skippedHint(listing, 'show_hidden=true lists them') });
  },
});

export const searchFiles = route({
  operation: 'files.search',
  method: 'GET',
  path: '/v2/fs/search',
  summary: 'Find files by a glob on their path or name',
  query: z.object({
    path: directory,
    user,
    pattern: systemText
      .min(1)
      .describe('With a / a glob on the path below path (**, {a,b}, [a-z], ?), else on the name at any depth.'),
    type: z.enum(searchKinds).default('file').describe('Type of the entries to find; a link counts as its target.'),
    ignore,
  }),
  data: z.object({
    path: z.string(),
    pattern: z.string(),
    files: z.array(z.string()).describe('Absolute paths in the order of the tree, the first 10 000.'),
    total_count: z.number().int().describe('Number of all matches.'),
    truncated: z.boolean(),
    hidden_count: z.number().int().describe('Names with a dot in front that only a pattern with the dot finds.'),
    ...skippedShape,
  }),
  errors: lookingFails,
  async handle({ files }, { query, context }) {
    const request = {
      path: query.path,
      user: query.user ?? null,
      pattern: query.pattern,
      kind: query.type,
      isAnyDepth: true,
      obeysGitignore: query.ignore === 'gitignore',
    };
    const result = await search(files, request, context.signal);
    const data = {
      path: showPath(result.path),
      pattern: query.pattern,
      files: result.files.map(showPath),
      total_count: result.totalCount,
      truncated: result.totalCount > result.files.length,
      hidden_count: result.hiddenCount,
      ...skippedView(result),
    };
    const cut = `These are the first ${result.files.length} of ${result.totalCount} matches; pass a narrower path or pattern.`;
    return new Answer(data, {
      hint: data.truncated ? cut : skippedHint(result, 'a pattern such as .* or **/.*/** names them'),
    });
  },
});

const unit: Readonly<Record<string, number>> = { K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 };
const fileSize = z
  .union([z.number().int().min(1), z.string().regex(/^[1-9][0-9]{0,9}[KMG]?$/)])
  .transform((size) => (typeof size === 'number' ? size : bytesOf(size)));

function bytesOf(text: string): number {
  const [, digits = '', letter = ''] = /^([0-9]+)([KMG]?)$/.exec(text) ?? [];
  return Math.min(Number.MAX_SAFE_INTEGER, Number(digits) * (unit[letter] ?? 1));
}

const fileGlob = systemText.min(1);
const fileGlobs = z.union([fileGlob.transform((glob) => [glob]), z.array(fileGlob).max(100)]).default([]);

const GrepMatchRecord = z
  .object({
    file: z.string(),
    line_number: z.number().int().describe('From 1.'),
    line_content: z
      .string()
      .describe(
        'Without the line end; more than 2000 characters are cut around the match. Lines of a multiline match.',
      ),
    context_before: z.array(z.string()),
    context_after: z.array(z.string()),
  })
  .meta({ id: 'MatchedLine' });

const GrepBody = z.object({
  path: directory.describe('A directory, or one file, which is searched whatever the filters say.'),
  pattern: systemText.min(1).describe('In the syntax of ripgrep.'),
  include: fileGlobs.describe('Only files that one of these globs names; as in .gitignore files, with {a,b}.'),
  exclude: fileGlobs.describe('No files or directories that one of these globs names.'),
  type: z.string().min(1).optional().describe('A type of file as ripgrep has them: ts, py, rust.'),
  case_insensitive: z.boolean().default(false),
  fixed_strings: z.boolean().default(false).describe('The pattern is plain text.'),
  multiline: z.boolean().default(false).describe('A match may span lines, and . matches their ends.'),
  context_before: z.number().int().min(0).max(100).default(0),
  context_after: z.number().int().min(0).max(100).default(0),
  max_results: z.number().int().min(1).max(10_000).default(500),
  offset: z.number().int().min(0).max(100_000).default(0).describe('Matches to pass over.'),
  max_file_size: fileSize
    .optional()
    .describe(
      'Larger files are left out: bytes, or 50K, 1M, 1G. Without it any size; with multiline 16M, at most 512M.',
    ),
  recursive: z.boolean().default(true),
  show_hidden: z.boolean().default(false).describe('Search names that begin with a dot too.'),
  ignore: z
    .enum(['none', 'gitignore'])
    .default('gitignore')
    .describe('gitignore obeys .gitignore files within repositories, .ignore and .rgignore files everywhere.'),
});

export const grepFiles = route({
  operation: 'files.grep',
  method: 'POST',
  path: '/v2/fs/grep',
  summary: 'Search the contents of files',
  query: z.object({ user }),
  body: GrepBody,
  data: z.object({
    path: z.string(),
    pattern: z.string(),
    matches: z.array(GrepMatchRecord).describe('In the order of the tree.'),
    match_count: z.number().int().describe('In this answer.'),
    files_searched: z
      .number()
      .int()
      .nullable()
      .describe('null where the limit ended the search, or the tree is large.'),
    files_matched: z.number().int().describe('As far as the search came.'),
    truncated: z.boolean().describe('There are more: continue with offset.'),
    engine: z.literal('ripgrep').describe('The engine that searched.'),
    skipped: z
      .array(z.object({ path: z.string(), errno_name: z.string() }))
      .describe(
        'The first 100 left out: EILSEQ is a binary file that matches, EFBIG too large, others are unreadable.',
      ),
    skipped_count: z
      .number()
      .int()
      .nullable()
      .describe('null where the limit ended the search, or it took too long to look into binary files.'),
  }),
  errors: [...lookingFails, 'file_invalid_target', 'file_too_large'],
  async handle({ files }, { query, body, context }) {
    const request = {
      path: body.path,
      user: query.user ?? null,
      pattern: body.pattern,
      include: body.include,
      exclude: body.exclude,
      type: body.type ?? null,
      isCaseInsensitive: body.case_insensitive,
      isFixed: body.fixed_strings,
      isMultiline: body.multiline,
      hasLookAround: false,
      cutsLines: true,
      linesBefore: body.context_before,
      linesAfter: body.context_after,
      maxResults: body.max_results,
      offset: body.offset,
      maxFileBytes: body.max_file_size ?? null,
      isRecursive: body.recursive,
      searchesHidden: body.show_hidden,
      obeysIgnoreFiles: body.ignore === 'gitignore',
    };
    const result = await files.grep.search(request, context.signal);
    return new Answer({ pattern: body.pattern, ...grepView(result) }, { hint: grepHint(result, body) });
  },
});

/** The sentence on what the search has left out; null when there is nothing to say. */
function grepHint(
  { skipped, skippedCount, isTruncated, isFile, matches }: GrepResult,
  body: z.output<typeof GrepBody>,
): string | null {
  const errnoNames = skipped.map(({ errnoName }) => errnoName);
  const omitted = leftOut({ errnoNames, count: skippedCount, isTruncated });
  if (omitted) return hintWith(omitted.hint, omitted.next, naming.calls);
  const options = [body.show_hidden ? null : 'show_hidden true', body.ignore === 'none' ? null : 'ignore none'];
  const more = options.filter((option) => option !== null);
  if (isTruncated || isFile || matches.length > 0 || more.length === 0) return null;
  return `Hidden and ignored names are not searched by default: ${more.join(' and ')} searches them too.`;
}

function grepView({ path, matches, filesSearched, filesMatched, isTruncated, skipped, skippedCount }: GrepResult) {
  return {
    path: showPath(path),
    matches: matches.map((match) => ({
      file: showPath(match.path),
      line_number: match.lineNumber,
      line_content: match.content,
      context_before: [...match.before],
      context_after: [...match.after],
    })),
    match_count: matches.length,
    files_searched: filesSearched,
    files_matched: filesMatched,
    truncated: isTruncated,
    engine: 'ripgrep' as const,
    skipped: skipped.map(({ path, errnoName }) => ({ path: showPath(path), errno_name: errnoName })),
    skipped_count: skippedCount,
  };
}

function fileEntry(file: ListedFile): z.input<typeof FileEntry> {
  return {
    name: showName(file.name),
    path: showPath(file.path),
    is_directory: file.isDirectory,
    is_symlink: file.isLink,
    size: file.size,
    extension: showName(file.extension),
    modified_time: file.modifiedMs === null ? null : new Date(file.modifiedMs).toISOString(),
    is_hidden: file.isHidden,
  };
}

/** Null when everything was listed. */
function skippedHint(
  { skippedCount, ignoredCount, hiddenCount, linkCount }: SkippedSummary,
  howToSeeHidden: string,
): string | null {
  const parts = [
    skippedCount > 0 ? `${skippedCount} unreadable (see skipped)` : null,
    ignoredCount > 0 ? `${ignoredCount} ignored (ignore=none lists them)` : null,
    hiddenCount > 0 ? `${hiddenCount} hidden (${howToSeeHidden})` : null,
    linkCount > 0 ? `${linkCount} linked directories not entered (pass their paths)` : null,
  ].filter((part) => part !== null);
  return parts.length === 0 ? null : `Left out: ${parts.join(', ')}.`;
}

function skippedView({ skipped, skippedCount, ignoredCount, linkCount }: SkippedSummary) {
  return {
    skipped: skipped.map(({ path, errnoName }) => ({ path: showPath(path), errno_name: errnoName })),
    skipped_count: skippedCount,
    ignored_count: ignoredCount,
    link_count: linkCount,
  };
}
