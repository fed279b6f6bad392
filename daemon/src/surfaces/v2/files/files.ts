/** The v2 routes that read and change single files. */
import { z } from 'zod';
import { makeDirectory } from '../../../core/files/write/make-directory.ts';
import { statFile } from '../../../core/files/read/stat.ts';
import { routeOf } from '../../../http/route/operation-route.ts';
import { snakeKeys } from '../../../kit/text/snake-keys.ts';
import { showPath } from '../../../kit/text/path-text.ts';
import { etag, fileErrors, filePath, FileQuery, OwnerQuery } from '../../../operations/files/inputs.ts';
import { readFile } from '../../../operations/files/read.ts';
import { WriteBody, writeFile } from '../../../operations/files/write.ts';
import { route, style } from '../app.ts';

export const read = routeOf(readFile, {
  method: 'GET',
  path: '/v2/fs/read',
  summary: 'Read a file as text, whole or some of its lines',
  query: readFile.input,
})(style);

export const write = routeOf(writeFile, {
  method: 'POST',
  path: '/v2/fs/write',
  summary: 'Write a file in one step, with the directories that lead to it',
  query: OwnerQuery,
  body: WriteBody,
})(style);

export const stat = route({
  operation: 'files.stat',
  method: 'GET',
  path: '/v2/fs/stat',
  summary: 'Return the attributes of a path',
  query: FileQuery.extend({
    follow_symlinks: z.boolean().default(true).describe('Follow a link, and return the attributes of its target.'),
  }),
  data: z
    .object({
      path: z.string(),
      size: z.number().int(),
      permissions: z.string().describe('Permission bits as octal text.'),
      is_directory: z.boolean(),
      is_symlink: z.boolean().describe('True when the path itself is a link.'),
      modified_time: z.string().describe('RFC 3339, UTC.'),
      uid: z.number().int(),
      gid: z.number().int(),
      owner: z.string().nullable(),
      group: z.string().nullable(),
      mode: z.number().int().describe('st_mode, as stat(2) has it.'),
      target: z.string().nullable().describe('The target text of a link.'),
      inode: z.number().int(),
      mime: z.string().nullable().describe('By the extension; null unless the path is a regular file.'),
      etag,
    })
    .meta({ id: 'FileStat' }),
  errors: fileErrors,
  async handle({ files }, { query }) {
    const { path, user = null, follow_symlinks: followSymlinks } = query;
    const { modifiedMs, ...found } = await statFile(files, { path, user, followSymlinks });
    return {
      ...snakeKeys(found),
      path: showPath(found.path),
      target: found.target === null ? null : showPath(found.target),
      modified_time: new Date(modifiedMs).toISOString(),
    };
  },
});

export const mkdir = route({
  operation: 'files.mkdir',
  method: 'POST',
  path: '/v2/fs/mkdir',
  summary: 'Make a directory',
  query: OwnerQuery,
  body: z.object({
    path: filePath,
    parents: z.boolean().default(false).describe('Create missing parents, and accept an existing directory.'),
  }),
  data: z.object({ path: z.string(), created: z.boolean() }).meta({ id: 'MadeDirectory' }),
  errors: [...fileErrors, 'file_exists', 'no_space_left'],
  async handle({ files }, { query, body }) {
    const { path, created } = await makeDirectory(files, { ...body, user: query.user ?? null });
    return { path: showPath(path), created };
  },
});
