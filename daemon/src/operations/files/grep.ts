/** Searches the contents of files. */
import { z } from 'zod';
import type { GrepResult } from '../../core/files/search/grep.ts';
import { showPath } from '../../kit/text/path-text.ts';
import { namedObject, systemText } from '../inputs.ts';
import { directory, lookingFails, skippedEntries, user } from './omissions.ts';
import { operation } from './operation.ts';

const unit: Readonly<Record<string, number>> = { K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 };
const fileSize = z
  .union([z.int().min(1), z.string().regex(/^[1-9][0-9]{0,9}[KMG]?$/)])
  .transform((size) => (typeof size === 'number' ? size : bytesOf(size)));

/** Bytes of a text such as 50K. */
export function bytesOf(text: string): number {
  const [, digits = '', letter = ''] = /^([0-9]+)([KMG]?)$/.exec(text) ?? [];
  return Math.min(Number.MAX_SAFE_INTEGER, Number(digits) * (unit[letter] ?? 1));
}

const fileGlob = systemText.min(1);
const fileGlobs = z.union([fileGlob.transform((glob) => [glob]), z.array(fileGlob).max(100)]).default([]);

const GrepMatchRecord = namedObject('MatchedLine', {
  file: z.string(),
  line_number: z.int().describe('From 1.'),
  line_content: z
    .string()
    .describe('Without the line end; more than 2000 characters are cut around the match. Lines of a multiline match.'),
  context_before: z.array(z.string()),
  context_after: z.array(z.string()),
});

export const GrepBody = z.object({
  path: directory.describe('A directory, or one file, which is searched whatever the filters say.'),
  pattern: systemText.min(1).describe('In the syntax of ripgrep.'),
  include: fileGlobs.describe('Only files that one of these globs names; as in .gitignore files, with {a,b}.'),
  exclude: fileGlobs.describe('No files or directories that one of these globs names.'),
  type: z.string().min(1).optional().describe('A type of file as ripgrep has them: ts, py, rust.'),
  case_insensitive: z.boolean().default(false),
  fixed_strings: z.boolean().default(false).describe('The pattern is plain text.'),
  multiline: z.boolean().default(false).describe('A match may span lines, and . matches their ends.'),
  context_before: z.int().min(0).max(100).default(0),
  context_after: z.int().min(0).max(100).default(0),
  max_results: z.int().min(1).max(10_000).default(500),
  offset: z.int().min(0).max(100_000).default(0).describe('Matches to pass over.'),
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

export const grepFiles = operation({
  name: 'files.grep',
  input: GrepBody.extend({ user }),
  output: z.object({
    path: z.string(),
    pattern: z.string(),
    matches: z.array(GrepMatchRecord).describe('In the order of the tree.'),
    match_count: z.int().describe('In this answer.'),
    files_searched: z.int().nullable().describe('null where the limit ended the search, or the tree is large.'),
    files_matched: z.int().describe('As far as the search came.'),
    truncated: z.boolean().describe('There are more: continue with offset.'),
    engine: z.literal('ripgrep').describe('The engine that searched.'),
    skipped: z
      .array(z.object({ path: z.string(), errno_name: z.string() }))
      .describe(
        'The first 100 left out: EILSEQ is a binary file that matches, EFBIG too large, others are unreadable.',
      ),
    skipped_count: z
      .int()
      .nullable()
      .describe('null where the limit ended the search, or it took too long to look into binary files.'),
    is_file: z.boolean().describe('The path is a file, which is searched whatever its name is.'),
  }),
  errors: [...lookingFails, 'file_invalid_target', 'file_too_large'],
  async run({ files }, input, { signal }) {
    const request = {
      path: input.path,
      user: input.user ?? null,
      pattern: input.pattern,
      include: input.include,
      exclude: input.exclude,
      type: input.type ?? null,
      isCaseInsensitive: input.case_insensitive,
      isFixed: input.fixed_strings,
      isMultiline: input.multiline,
      hasLookAround: false,
      cutsLines: true,
      linesBefore: input.context_before,
      linesAfter: input.context_after,
      maxResults: input.max_results,
      offset: input.offset,
      maxFileBytes: input.max_file_size ?? null,
      isRecursive: input.recursive,
      searchesHidden: input.show_hidden,
      obeysIgnoreFiles: input.ignore === 'gitignore',
    };
    return { pattern: input.pattern, ...grepView(await files.grep.search(request, signal)) };
  },
});

/** Nothing in a tree matches, so that the names that are not searched by default are worth a hint. */
export function isSilent({ matches, truncated, is_file: isFile }: z.output<typeof grepFiles.output>): boolean {
  return matches.length === 0 && !truncated && !isFile;
}

function grepView({
  path,
  matches,
  filesSearched,
  filesMatched,
  isFile,
  isTruncated,
  skipped,
  skippedCount,
}: GrepResult) {
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
    is_file: isFile,
    skipped: skippedEntries(skipped),
    skipped_count: skippedCount,
  };
}
