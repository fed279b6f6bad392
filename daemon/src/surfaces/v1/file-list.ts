/** The 1.x routes that list a directory, a tree, or the matches of a glob. */
import { z } from 'zod';
import { glob } from '../../core/files/search/glob.ts';
import { list, type Listing } from '../../core/files/read/list.ts';
import type { ListedFile } from '../../core/files/read/listed-file.ts';
import type { Order } from '../../core/files/read/ordering.ts';
import { Answer } from '../../kit/answer.ts';
import { showName, showPath } from '../../kit/text/path-text.ts';
import { jsonCodes, orEmptyFailure, orFailure, route } from './file-failures.ts';
import { bodyWithPath, pathOf } from './file-inputs.ts';
import { isoTime, skippedHint } from './file-views.ts';
import { namedObject } from '../../operations/inputs.ts';

const ListRequest = bodyWithPath('path', {
  recursive: z.boolean().nullable().default(false),
  show_hidden: z.boolean().nullable().default(true),
  file_types: z.array(z.string()).nullish().describe('Extensions with their dot; directories are listed anyway.'),
  max_depth: z.int().nullish().describe('With recursive; 1 is the directory alone.'),
  include_size: z.boolean().nullable().default(true),
  include_permissions: z.boolean().nullable().default(false),
  sort_by: z.string().nullable().default('name').describe('name, size, modified or type; name for anything else.'),
  sort_desc: z.boolean().nullable().default(false),
}).meta({ id: 'FileListRequest' });

const FileInfo = namedObject('FileInfo', {
  name: z.string(),
  path: z.string(),
  is_directory: z.boolean().describe('True for a directory, or a link to a directory.'),
  size: z.int().nullable().describe('Bytes.'),
  modified_time: z.string().nullable().describe('ISO 8601, UTC.'),
  permissions: z.string().nullable().describe('Octal: 644. Only where they are asked for.'),
  extension: z.string().nullable().describe('The extension with its dot; empty without one.'),
});

/** The maximum size of an answer, because 1.x has no pages. */
const maxListed = 50_000;

export const listPath = route({
  operation: 'files.list_v1',
  method: 'POST',
  path: '/v1/file/list',
  summary: 'List a directory or a tree',
  body: ListRequest,
  data: orFailure(
    namedObject('FileListResult', {
      path: z.string(),
      files: z.array(FileInfo).describe('The first 50 000.'),
      total_count: z.int().describe('Entries in the whole listing.'),
      directory_count: z.int(),
      file_count: z.int(),
    }),
  ),
  errors: jsonCodes,
  async handle({ files }, { body, context }) {
    const request = {
      path: pathOf(body),
      user: null,
      isRecursive: body.recursive ?? false,
      maxDepth: body.max_depth ?? null,
      showsHidden: body.show_hidden ?? true,
      obeysGitignore: false,
      extensions: body.file_types?.map(withDot) ?? null,
      order: orderOf(listOrders, body),
      cursor: null,
      limit: maxListed,
    };
    const listing = await list(files, request, context.signal);
    const data = {
      path: showPath(listing.path),
      files: listing.files.map((file) => fileInfo(file, body)),
      total_count: listing.fileCount + listing.directoryCount,
      directory_count: listing.directoryCount,
      file_count: listing.fileCount,
    };
    return new Answer(data, { hint: cutHint(listing) ?? skippedHint(listing, 'show_hidden lists them') });
  },
});

function withDot(extension: string): string {
  return extension === '' || extension.startsWith('.') ? extension : `.${extension}`;
}

const listOrders = ['name', 'size', 'modified', 'type'] as const;

type Sorting = Pick<z.output<typeof ListRequest>, 'sort_by' | 'sort_desc'>;

/** An unknown order falls back to the first of the list. */
function orderOf<By extends Order['by']>(orders: readonly [By, ...By[]], asked: Sorting): Order {
  const by = orders.find((order) => order === asked.sort_by) ?? orders[0];
  return { by, direction: asked.sort_desc === true ? 'desc' : 'asc' };
}

function fileInfo(file: ListedFile, asked: z.output<typeof ListRequest>): z.input<typeof FileInfo> {
  return {
    name: showName(file.name),
    path: showPath(file.path),
    is_directory: file.isDirectory,
    size: (asked.include_size ?? true) ? file.size : null,
    modified_time: isoTime(file.modifiedMs),
    permissions: asked.include_permissions === true ? file.permissions : null,
    extension: showName(file.extension),
  };
}

function cutHint({ nextCursor, files }: Listing): string | null {
  if (nextCursor === null) return null;
  return `These are the first ${files.length}; list a directory below, or fewer levels (max_depth).`;
}

const globOrders = ['path', 'name', 'size', 'modified'] as const;

const GlobFileInfo = namedObject('GlobFileInfo', {
  path: z.string(),
  name: z.string(),
  is_directory: z.boolean(),
  size: z.int().nullable().describe('Bytes.'),
  modified_time: z.string().nullable().describe('ISO 8601, UTC.'),
});

export const globFiles = route({
  operation: 'files.glob_v1',
  method: 'POST',
  path: '/v1/file/glob',
  summary: 'Find files by a glob on their path, with size and time',
  body: bodyWithPath('path', {
    pattern: z.string().describe('On the path below path: *, **, ?, [a-z], {a,b}.'),
    exclude: z
      .array(z.string())
      .max(100)
      .nullish()
      .describe('Globs of paths to leave out, with everything below them.'),
    include_hidden: z.boolean().nullable().default(false),
    files_only: z.boolean().nullable().default(true),
    include_metadata: z.boolean().nullable().default(true),
    max_results: z.int().min(1).max(50_000).nullable().default(5000),
    sort_by: z.string().nullable().default('path').describe('path, name, size or modified; path for anything else.'),
    sort_desc: z.boolean().nullable().default(false),
  }).meta({ id: 'FileGlobRequest' }),
  data: orEmptyFailure(
    namedObject('FileGlobResult', {
      path: z.string(),
      pattern: z.string(),
      files: z.array(GlobFileInfo),
      total_count: z.int().describe('Number of all matches.'),
      truncated: z.boolean(),
    }),
    'files',
  ),
  errors: jsonCodes,
  async handle({ files }, { body, context }) {
    const request = {
      path: pathOf(body),
      user: null,
      pattern: body.pattern,
      exclude: body.exclude ?? [],
      matchesHidden: body.include_hidden ?? false,
      filesOnly: body.files_only ?? true,
      order: orderOf(globOrders, body),
      limit: body.max_results ?? 5000,
    };
    const found = await glob(files, request, context.signal);
    const tellsMore = body.include_metadata ?? true;
    const data = {
      path: showPath(found.path),
      pattern: body.pattern,
      files: found.files.map((file) => ({
        path: showPath(file.path),
        name: showName(file.name),
        is_directory: file.isDirectory,
        size: tellsMore ? file.size : null,
        modified_time: tellsMore ? isoTime(file.modifiedMs) : null,
      })),
      total_count: found.totalCount,
      truncated: found.totalCount > found.files.length,
    };
    return new Answer(data, { hint: skippedHint(found, 'include_hidden finds them') });
  },
});
