/** The v2 routes that copy, move and delete files and whole trees. */
import { z } from 'zod';
import { routeOf } from '../../../http/route/operation-route.ts';
import { sameValue } from '../../../http/route/same-value.ts';
import { filePath, OwnerQuery } from '../../../operations/files/inputs.ts';
import { copyTree, deleteTree, DeletionBody, moveTree } from '../../../operations/files/trees.ts';
import { oneOf } from '../../../operations/inputs.ts';
import { style } from '../app.ts';

const TransferBody = z
  .object({
    path: filePath.optional().describe('The source; source is another name for it.'),
    source: filePath.optional(),
    destination: filePath.describe(
      'The new path itself, also when a directory exists there. Missing parents are created.',
    ),
    overwrite: z
      .boolean()
      .default(false)
      .describe('A file takes the place of a file; a directory that of a whole directory, which is not merged.'),
  })
  .superRefine(({ path, source }, context) => {
    if (path === undefined && source === undefined) {
      context.addIssue({ code: 'invalid_type', expected: 'string', path: ['path'], input: undefined });
    }
  })
  .superRefine(sameValue('path', 'source'))
  .meta({
    anyOf: [{ required: ['path'] }, { required: ['source'] }],
    ...oneOf('path', 'source'),
    description: 'Needs path or source, two names of one field.',
  });

interface Given {
  readonly query: z.output<typeof OwnerQuery>;
  readonly body: z.output<typeof TransferBody>;
}

function transferOf({ query: { user }, body: { path, source, destination, overwrite } }: Given) {
  return { source: source ?? path ?? '', destination, overwrite, user };
}

export const copy = routeOf(copyTree, {
  method: 'POST',
  path: '/v2/fs/copy',
  summary: 'Copy a file or a whole tree, in one step; links in a tree stay links',
  query: OwnerQuery,
  body: TransferBody,
  read: transferOf,
})(style);

export const move = routeOf(moveTree, {
  method: 'POST',
  path: '/v2/fs/move',
  summary: 'Move a file, a link or a whole tree, also to another file system',
  query: OwnerQuery,
  body: TransferBody,
  read: transferOf,
})(style);

export const remove = routeOf(deleteTree, {
  method: 'POST',
  path: '/v2/fs/delete',
  summary: 'Delete a file, a link or a directory',
  query: OwnerQuery,
  body: DeletionBody,
})(style);
