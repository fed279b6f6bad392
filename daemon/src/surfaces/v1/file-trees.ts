/** The v1 routes that 1.x did not have: they take and answer what v2 does, with v1 failures. */
import { z } from 'zod';
import { copyPath } from '../../core/files/tree/copy.ts';
import { deletePath } from '../../core/files/tree/delete.ts';
import { makeDirectory } from '../../core/files/write/make-directory.ts';
import { movePath } from '../../core/files/tree/move.ts';
import { statFile } from '../../core/files/read/stat.ts';
import { showPath } from '../../kit/text/path-text.ts';
import { snakeKeys } from '../../kit/text/snake-keys.ts';
import { jsonCodes, orFailure, route } from './file-failures.ts';
import { bodyWithPath, pathOf, sound } from './file-inputs.ts';

export const stat = route({
  operation: 'files.stat_v1',
  method: 'POST',
  path: '/v1/file/stat',
  summary: 'Return the attributes of a path',
  body: bodyWithPath('path', {
    follow_symlinks: z
      .boolean()
      .nullable()
      .default(true)
      .describe('Follow a link, and return the attributes of its target.'),
  }),
  data: orFailure(
    z
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
        mime: z.string().nullable(),
        etag: z.string(),
      })
      .meta({ id: 'FileStatResult' }),
  ),
  errors: jsonCodes,
  async handle({ files }, { body }) {
    const request = { path: pathOf(body), user: null, followSymlinks: body.follow_symlinks ?? true };
    const { modifiedMs, ...found } = await statFile(files, request);
    return {
      ...snakeKeys(found),
      path: showPath(found.path),
      target: found.target === null ? null : showPath(found.target),
      modified_time: new Date(modifiedMs).toISOString(),
    };
  },
});

export const mkdir = route({
  operation: 'files.mkdir_v1',
  method: 'POST',
  path: '/v1/file/mkdir',
  summary: 'Make a directory',
  body: bodyWithPath('path', {
    parents: z
      .boolean()
      .nullable()
      .default(false)
      .describe('Create missing parents, and accept an existing directory.'),
  }),
  data: orFailure(z.object({ path: z.string(), created: z.boolean() }).meta({ id: 'MadeDirectory' })),
  errors: jsonCodes,
  async handle({ files }, { body }) {
    const request = { path: pathOf(body), user: null, parents: body.parents ?? false };
    const { path, created } = await makeDirectory(files, request);
    return { path: showPath(path), created };
  },
});

const names = ['source', 'path', 'file'] as const;
const source = z.string().optional().describe('The source; source, path and file are aliases.');

const TransferBody = z
  .object({
    source,
    path: source,
    file: source,
    destination: z.string().describe('The new path itself; missing parents are made.'),
    overwrite: z.boolean().nullable().default(false).describe('Replace an existing destination.'),
  })
  .superRefine((body, context) => {
    if (names.some((name) => body[name] !== undefined)) return;
    context.addIssue({ code: 'invalid_type', expected: 'string', path: ['source'], input: undefined });
  })
  .meta({ anyOf: names.map((name) => ({ required: [name] })) });

function transferOf({ source, path, file, destination, overwrite }: z.output<typeof TransferBody>) {
  return {
    source: sound(source ?? path ?? file ?? ''),
    destination: sound(destination),
    overwrite: overwrite ?? false,
    user: null,
  };
}

const transferred = { path: z.string(), source: z.string(), destination: z.string() };

export const copy = route({
  operation: 'files.copy_v1',
  method: 'POST',
  path: '/v1/file/copy',
  summary: 'Copy a file or a whole tree, in one step',
  body: TransferBody,
  data: orFailure(
    z
      .object({
        ...transferred,
        is_directory: z.boolean(),
        files_copied: z.number().int().describe('Regular files; links and directories do not count.'),
        bytes_copied: z.number().int().describe('Bytes of their contents.'),
        skipped: z.array(z.string()).describe('Pipes, sockets and devices, not copied.'),
      })
      .meta({ id: 'CopyResult' }),
  ),
  errors: jsonCodes,
  async handle({ files }, { body }) {
    const copied = await copyPath(files, transferOf(body));
    return { ...snakeKeys(copied), ...transferView(copied), skipped: copied.skipped.map(showPath) };
  },
});

export const move = route({
  operation: 'files.move_v1',
  method: 'POST',
  path: '/v1/file/move',
  summary: 'Move a file, a link or a whole tree',
  body: TransferBody,
  data: orFailure(z.object(transferred).meta({ id: 'Moved' })),
  errors: jsonCodes,
  async handle({ files }, { body }) {
    return transferView(await movePath(files, transferOf(body)));
  },
});

function transferView({ source, destination }: { readonly source: string; readonly destination: string }) {
  const shown = showPath(source);
  return { path: shown, source: shown, destination: showPath(destination) };
}

export const remove = route({
  operation: 'files.delete_v1',
  method: 'POST',
  path: '/v1/file/delete',
  summary: 'Delete a file, a link or a directory',
  body: bodyWithPath('path', {
    recursive: z.boolean().nullable().default(false).describe('Delete a directory with its contents.'),
  }),
  data: orFailure(
    z.object({ path: z.string(), deleted: z.boolean(), is_directory: z.boolean() }).meta({ id: 'Deleted' }),
  ),
  errors: jsonCodes,
  async handle({ files }, { body }) {
    const request = { path: pathOf(body), user: null, recursive: body.recursive ?? false };
    const { path, isDirectory } = await deletePath(files, request);
    return { path: showPath(path), deleted: true, is_directory: isDirectory };
  },
});
