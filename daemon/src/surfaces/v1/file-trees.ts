/** The v1 routes that came after 1.x: they take and answer what v2 does, and fail as every v1 file route. */
import { z } from 'zod';
import { copyPath } from '../../core/files/copy.ts';
import { deletePath } from '../../core/files/delete.ts';
import { makeDirectory } from '../../core/files/make-directory.ts';
import { movePath } from '../../core/files/move.ts';
import { statFile } from '../../core/files/stat.ts';
import { showPath } from '../../kit/path-text.ts';
import { snakeKeys } from '../../kit/snake-keys.ts';
import { route } from './app.ts';
import { jsonCodes, orFailure } from './file-failures.ts';
import { bodyWithPath, pathOf, sound } from './file-inputs.ts';

export const stat = route({
  operation: 'files.stat_v1',
  method: 'POST',
  path: '/v1/file/stat',
  summary: 'Tell what a path leads to',
  body: bodyWithPath('path', {
    follow_symlinks: z.boolean().nullable().default(true).describe('Tell of what a link points at, not of the link.'),
  }),
  data: orFailure(
    z
      .object({
        path: z.string(),
        size: z.number().int(),
        permissions: z.string().describe('Permission bits as octal text.'),
        is_directory: z.boolean(),
        is_symlink: z.boolean().describe('Of the path itself.'),
        modified_time: z.string().describe('RFC 3339, UTC.'),
        uid: z.number().int(),
        gid: z.number().int(),
        owner: z.string().nullable(),
        group: z.string().nullable(),
        mode: z.number().int().describe('st_mode, as stat(2) has it.'),
        target: z.string().nullable().describe('What a link says.'),
        inode: z.number().int(),
        mime: z.string().nullable(),
        etag: z.string(),
      })
      .meta({ id: 'FileStat' }),
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
    parents: z.boolean().nullable().default(false).describe('Make what is missing; one that is there is welcome.'),
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
const source = z.string().optional().describe('What is taken; source, path and file are one field.');

const TransferBody = z
  .object({
    source,
    path: source,
    file: source,
    destination: z.string().describe('The new path itself; missing parents are made.'),
    overwrite: z.boolean().nullable().default(false).describe('What is there is replaced.'),
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
      .object({ ...transferred, skipped: z.array(z.string()).describe('Pipes, sockets and devices, not copied.') })
      .meta({ id: 'Copied' }),
  ),
  errors: jsonCodes,
  async handle({ files }, { body }) {
    const copied = await copyPath(files, transferOf(body));
    return { ...transferView(copied), skipped: copied.skipped.map(showPath) };
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
    recursive: z.boolean().nullable().default(false).describe('A directory goes with all that is in it.'),
  }),
  data: orFailure(z.object({ path: z.string(), deleted: z.boolean() }).meta({ id: 'Deleted' })),
  errors: jsonCodes,
  async handle({ files }, { body }) {
    const { path } = await deletePath(files, { path: pathOf(body), user: null, recursive: body.recursive ?? false });
    return { path: showPath(path), deleted: true };
  },
});
