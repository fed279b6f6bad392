/** Lists a directory or a tree. */
import { z } from 'zod';
import { list, maxPage } from '../../core/files/read/list.ts';
import type { ListedFile } from '../../core/files/read/listed-file.ts';
import { directions, sortKeys } from '../../core/files/read/ordering.ts';
import { showName, showPath } from '../../kit/text/path-text.ts';
import { directory, ignore, lookingFails, skippedShape, skippedView, user } from './omissions.ts';
import { operation } from './operation.ts';
import { namedObject } from '../inputs.ts';

const FileEntry = namedObject('FileEntry', {
  name: z.string(),
  path: z.string().describe('Absolute; a file URL where the name is not UTF-8, which every route takes as a path.'),
  is_directory: z.boolean().describe('True for a directory, or a link to a directory.'),
  is_symlink: z.boolean(),
  size: z.int().nullable().describe('Bytes; null when it is unknown.'),
  extension: z.string().describe('The extension with its dot; empty without one.'),
  modified_time: z.string().nullable().describe('RFC 3339, UTC.'),
  is_hidden: z.boolean().describe('The name begins with a dot.'),
});

export const listFiles = operation({
  name: 'files.list',
  input: z.object({
    path: directory,
    user,
    recursive: z.boolean().default(false),
    max_depth: z.int().min(1).optional().describe('With recursive; 1 is the directory alone.'),
    show_hidden: z.boolean().default(true),
    sort: z.enum(sortKeys).default('path').describe('path is the order of the tree: name by name.'),
    order: z.enum(directions).default('asc'),
    limit: z.int().min(1).max(maxPage).default(maxPage).describe('Entries in this answer.'),
    cursor: z.string().min(1).optional().describe('next_cursor of the answer before this one.'),
    ignore,
  }),
  output: z.object({
    path: z.string(),
    files: z.array(FileEntry),
    total_count: z.int().describe('Entries in the whole listing, not only in this answer.'),
    file_count: z.int(),
    directory_count: z.int(),
    truncated: z.boolean().describe('More follows: continue with next_cursor.'),
    next_cursor: z.string().nullable(),
    hidden_count: z.int().describe('Names that show_hidden=false left out, without what is below them.'),
    ...skippedShape,
  }),
  errors: lookingFails,
  async run({ files }, input, { signal }) {
    const request = {
      path: input.path,
      user: input.user ?? null,
      isRecursive: input.recursive,
      maxDepth: input.max_depth ?? null,
      showsHidden: input.show_hidden,
      obeysGitignore: input.ignore === 'gitignore',
      extensions: null,
      order: { by: input.sort, direction: input.order },
      cursor: input.cursor ?? null,
      limit: input.limit,
    };
    const listing = await list(files, request, signal);
    return {
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
  },
});

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
