/** The v2 routes that copy, move and delete files and whole trees. */
import { z } from 'zod';
import { copyPath, type TransferRequest } from '../../../core/files/tree/copy.ts';
import { deletePath } from '../../../core/files/tree/delete.ts';
import { movePath } from '../../../core/files/tree/move.ts';
import { showPath } from '../../../kit/text/path-text.ts';
import { snakeKeys } from '../../../kit/text/snake-keys.ts';
import { route } from '../app.ts';
import { fileErrors, filePath, OwnerQuery } from '../../../operations/files/inputs.ts';
import { sameValue } from '../../../http/route/same-value.ts';
import { oneOf } from '../../../operations/inputs.ts';

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
  .meta({ anyOf: [{ required: ['path'] }, { required: ['source'] }], ...oneOf('path', 'source') });

const transferred = { path: z.string(), source: z.string(), destination: z.string() };
const transferErrors = [...fileErrors, 'file_exists', 'no_space_left'] as const;

function transferOf(body: z.output<typeof TransferBody>, user: string | undefined): TransferRequest {
  const { path, source, destination, overwrite } = body;
  return { source: source ?? path ?? '', destination, overwrite, user: user ?? null };
}

export const copy = route({
  operation: 'files.copy',
  method: 'POST',
  path: '/v2/fs/copy',
  summary: 'Copy a file or a whole tree, in one step; links in a tree stay links',
  query: OwnerQuery,
  body: TransferBody,
  data: z
    .object({
      ...transferred,
      is_directory: z.boolean(),
      files_copied: z.number().int().describe('Regular files; links and directories do not count.'),
      bytes_copied: z.number().int().describe('Bytes of their contents.'),
      skipped: z.array(z.string()).describe('Pipes, sockets and devices of the tree, the first 1000: not copied.'),
    })
    .meta({ id: 'Copied' }),
  errors: transferErrors,
  async handle({ files }, { query, body }) {
    const copied = await copyPath(files, transferOf(body, query.user));
    const source = showPath(copied.source);
    const destination = showPath(copied.destination);
    return { ...snakeKeys(copied), path: source, source, destination, skipped: copied.skipped.map(showPath) };
  },
});

export const move = route({
  operation: 'files.move',
  method: 'POST',
  path: '/v2/fs/move',
  summary: 'Move a file, a link or a whole tree, also to another file system',
  query: OwnerQuery,
  body: TransferBody,
  data: z.object(transferred).meta({ id: 'Moved' }),
  errors: transferErrors,
  async handle({ files }, { query, body }) {
    const { source, destination } = await movePath(files, transferOf(body, query.user));
    const shown = showPath(source);
    return { path: shown, source: shown, destination: showPath(destination) };
  },
});

export const remove = route({
  operation: 'files.delete',
  method: 'POST',
  path: '/v2/fs/delete',
  summary: 'Delete a file, a link or a directory',
  query: OwnerQuery,
  body: z.object({
    path: filePath,
    recursive: z.boolean().default(false).describe('Delete a directory with its contents.'),
  }),
  data: z.object({ path: z.string(), deleted: z.boolean(), is_directory: z.boolean() }).meta({ id: 'Deleted' }),
  errors: fileErrors,
  async handle({ files }, { query, body }) {
    const { path, isDirectory } = await deletePath(files, { ...body, user: query.user ?? null });
    return { path: showPath(path), deleted: true, is_directory: isDirectory };
  },
});
