/** The 1.x routes that search for text in files and for files by name. */
import { z } from 'zod';
import type { GrepResult } from '../../core/files/search/grep.ts';
import { leftOut } from '../../core/files/search/left-out.ts';
import { maxFound, search } from '../../core/files/search/search.ts';
import { searchLines } from '../../core/files/search/search-lines.ts';
import { callOf } from '../../http/route/operation-route.ts';
import { hintWith } from '../../http/route/refusal.ts';
import { Answer, dataOf } from '../../kit/answer.ts';
import { showPath } from '../../kit/text/path-text.ts';
import { bytesOf, grepFiles as grep, isSilent } from '../../operations/files/grep.ts';
import { skippedEntries } from '../../operations/files/omissions.ts';
import { jsonCodes, orEmptyFailure, orFailure, route } from './file-failures.ts';
import { bodyWithPath, fileOf, ownerOf, pathOf, sudo } from './file-inputs.ts';
import { skippedHint } from './file-views.ts';
import { naming } from './refusal.ts';
import { namedObject } from '../../operations/inputs.ts';

export const searchInFile = route({
  operation: 'files.search_v1',
  method: 'POST',
  path: '/v1/file/search',
  summary: 'Find the lines of one file that match',
  body: bodyWithPath('file', { regex: z.string(), sudo }).meta({ id: 'FileSearchRequest' }),
  data: orFailure(
    namedObject('FileSearchResult', {
      file: z.string(),
      matches: z.array(z.string()).describe('Whole lines.'),
      line_numbers: z.array(z.int()).describe('Line numbers of the matches, from 0.'),
    }),
  ),
  errors: [...jsonCodes, 'capacity_reached'],
  async handle({ files }, { body, context }) {
    const asked = fileOf(body);
    const user = ownerOf(files.accounts, body.sudo, asked);
    const found = await searchLines(files, { path: asked, user, pattern: body.regex }, context.signal);
    const { path, lines, isTruncated } = found;
    const hint = isTruncated
      ? `These are the first ${lines.length} lines; POST /v1/file/grep returns more with offset.`
      : leftOutHint({ ...found, skipped: skippedEntries(found.skipped) });
    const matches = lines.map(({ text }) => text);
    return new Answer({ file: showPath(path), matches, line_numbers: lines.map(({ index }) => index) }, { hint });
  },
});

export const findFiles = route({
  operation: 'files.find_v1',
  method: 'POST',
  path: '/v1/file/find',
  summary: 'Find files by a glob below a directory',
  body: bodyWithPath('path', {
    glob: z.string().describe('A glob on the path below path, as in Python: only ** descends.'),
  }).meta({ id: 'FileFindRequest' }),
  data: orEmptyFailure(
    namedObject('FileFindResult', { path: z.string(), files: z.array(z.string()).describe('Full paths, sorted.') }),
    'files',
  ),
  errors: jsonCodes,
  async handle({ files }, { body, context }) {
    const request = {
      path: pathOf(body),
      user: null,
      pattern: body.glob,
      isAnyDepth: false,
      kind: 'file',
      obeysGitignore: false,
      cursor: null,
      limit: maxFound,
    } as const;
    const found = await search(files, request, context.signal);
    const cut = `These are the first ${found.files.length} of ${found.totalCount} files; give a narrower path or glob.`;
    const hint = found.totalCount > found.files.length ? cut : skippedHint(found, 'a glob such as **/.* names them');
    return new Answer({ path: showPath(found.path), files: found.files.map((one) => showPath(one.path)) }, { hint });
  },
});

const GrepMatch = namedObject('GrepMatch', {
  file: z.string(),
  line_number: z.int().describe('From 1.'),
  line_content: z.string().describe('More than 2000 characters are cut around the match.'),
  context_before: z.array(z.string()).nullable(),
  context_after: z.array(z.string()).nullable(),
});

const contextLines = z.int().min(0).max(20).nullable().default(0);
const globs = z.array(z.string()).max(100).nullish();

export const grepFiles = route({
  operation: 'files.grep_v1',
  method: 'POST',
  path: '/v1/file/grep',
  summary: 'Search the contents of files',
  body: bodyWithPath('path', {
    pattern: z.string().describe('In the syntax of ripgrep.'),
    include: globs.describe('Only files that match one of these globs.'),
    exclude: globs.describe('No path that matches one of these globs.'),
    case_insensitive: z.boolean().nullable().default(false),
    fixed_strings: z.boolean().nullable().default(false),
    context_before: contextLines,
    context_after: contextLines,
    max_results: z.int().min(1).max(10_000).nullable().default(500),
    max_file_size: z
      .string()
      .regex(/^[1-9][0-9]{0,9}[KMGkmg]?$/)
      .nullish()
      .describe('Larger files are left out: bytes, or 500K, 1M, 1G. Without it any size; with multiline 16M.'),
    multiline: z.boolean().nullable().default(false).describe('A match may span lines, and . matches their ends.'),
    offset: z.int().min(0).max(100_000).nullable().default(0).describe('Matches to pass over.'),
    type: z.string().nullish().describe('A type of file as ripgrep has them: py, rust.'),
    recursive: z.boolean().nullable().default(true),
  }).meta({ id: 'FileGrepRequest' }),
  data: orEmptyFailure(
    namedObject('FileGrepResult', {
      path: z.string(),
      pattern: z.string(),
      matches: z.array(GrepMatch),
      match_count: z.int().describe('In this answer.'),
      files_searched: z.int().nullable(),
      files_matched: z.int().nullable(),
      truncated: z.boolean().describe('There are more: continue with offset.'),
    }),
    'matches',
  ),
  errors: [...jsonCodes, 'capacity_reached'],
  async handle(deps, { body, context }) {
    const asked = {
      path: pathOf(body),
      pattern: body.pattern,
      include: body.include ?? [],
      exclude: body.exclude ?? [],
      type: body.type ?? undefined,
      case_insensitive: body.case_insensitive ?? false,
      fixed_strings: body.fixed_strings ?? false,
      multiline: body.multiline ?? false,
      context_before: body.context_before ?? 0,
      context_after: body.context_after ?? 0,
      max_results: body.max_results ?? 500,
      offset: body.offset ?? 0,
      max_file_size: body.max_file_size ? bytesOf(body.max_file_size.toUpperCase()) : undefined,
      recursive: body.recursive ?? true,
      show_hidden: false,
      ignore: 'gitignore',
    } as const;
    const found = dataOf(await grep.run(deps, asked, callOf(context)));
    const { engine: _engine, is_file: _isFile, skipped, skipped_count: skippedCount, ...data } = found;
    const hint = leftOutHint({ skipped, skippedCount, isTruncated: data.truncated });
    return new Answer(data, { hint: hint ?? (isSilent(found) ? notSearched : null) });
  },
});

/** The sentence on what the search has left out; null when there is nothing to say. */
function leftOutHint({ skipped, skippedCount: count, isTruncated }: Omissions): string | null {
  const errnoNames = skipped.map((one) => one.errno_name);
  const omitted = leftOut({ errnoNames, count, isTruncated });
  if (!omitted) return null;
  const names = skipped.slice(0, maxNamed).map(({ path }) => path);
  return [hintWith(omitted.hint, omitted.next, naming.calls), ...names].join(' ');
}

interface Omissions extends Pick<GrepResult, 'skippedCount' | 'isTruncated'> {
  readonly skipped: ReturnType<typeof skippedEntries>;
}

/** Names in a hint, because answers of 1.x have no field for them. */
const maxNamed = 10;
const notSearched =
  'Hidden names, and those that ignore files name, are not searched; POST /v2/fs/grep can search both.';
