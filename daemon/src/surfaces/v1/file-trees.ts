/** The v1 routes that 1.x did not have: they take and answer what v2 does, with v1 failures. */
import { z } from 'zod';
import { callOf } from '../../http/route/operation-route.ts';
import { statFile } from '../../operations/files/stat.ts';
import { copyTree, deleteTree, makeDirectory, moveTree } from '../../operations/files/trees.ts';
import { jsonCodes, orFailure, route } from './file-failures.ts';
import { bodyWithPath, pathOf, sound } from './file-inputs.ts';
import { namedObject } from '../../operations/inputs.ts';

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
  data: orFailure(statFile.output.omit({ sha256: true }).meta({ id: 'FileStatResult' })),
  errors: jsonCodes,
  handle: (deps, { body, context }) =>
    statFile.run(
      deps,
      { path: pathOf(body), follow_symlinks: body.follow_symlinks ?? true, sha256: false },
      callOf(context),
    ),
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
  data: orFailure(makeDirectory.output),
  errors: jsonCodes,
  handle: (deps, { body, context }) =>
    makeDirectory.run(deps, { path: pathOf(body), parents: body.parents ?? false }, callOf(context)),
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
  };
}

export const copy = route({
  operation: 'files.copy_v1',
  method: 'POST',
  path: '/v1/file/copy',
  summary: 'Copy a file or a whole tree, in one step',
  body: TransferBody,
  data: orFailure(namedObject('CopyResult', copyTree.output.shape)),
  errors: jsonCodes,
  handle: (deps, { body, context }) => copyTree.run(deps, transferOf(body), callOf(context)),
});

export const move = route({
  operation: 'files.move_v1',
  method: 'POST',
  path: '/v1/file/move',
  summary: 'Move a file, a link or a whole tree',
  body: TransferBody,
  data: orFailure(moveTree.output),
  errors: jsonCodes,
  handle: (deps, { body, context }) => moveTree.run(deps, transferOf(body), callOf(context)),
});

export const remove = route({
  operation: 'files.delete_v1',
  method: 'POST',
  path: '/v1/file/delete',
  summary: 'Delete a file, a link or a directory',
  body: bodyWithPath('path', {
    recursive: z.boolean().nullable().default(false).describe('Delete a directory with its contents.'),
  }),
  data: orFailure(deleteTree.output),
  errors: jsonCodes,
  handle: (deps, { body, context }) =>
    deleteTree.run(deps, { path: pathOf(body), recursive: body.recursive ?? false }, callOf(context)),
});
