/** Makes, copies, moves and deletes files and whole trees. */
import { z } from 'zod';
import { copyPath } from '../../core/files/tree/copy.ts';
import { deletePath } from '../../core/files/tree/delete.ts';
import { makeDirectory as makePath } from '../../core/files/write/make-directory.ts';
import { movePath } from '../../core/files/tree/move.ts';
import { showPath } from '../../kit/text/path-text.ts';
import { snakeKeys } from '../../kit/text/snake-keys.ts';
import { fileErrors, filePath, OwnerQuery } from './inputs.ts';
import { operation } from './operation.ts';
import { namedObject } from '../inputs.ts';

export const DirectoryBody = z.object({
  path: filePath,
  parents: z.boolean().default(false).describe('Create missing parents, and accept an existing directory.'),
});

export const makeDirectory = operation({
  name: 'files.mkdir',
  input: DirectoryBody.extend(OwnerQuery.shape),
  output: namedObject('MadeDirectory', { path: z.string(), created: z.boolean() }),
  errors: [...fileErrors, 'file_exists', 'no_space_left'],
  async run({ files }, { user = null, ...input }) {
    const { path, created } = await makePath(files, { ...input, user });
    return { path: showPath(path), created };
  },
});

const Transfer = OwnerQuery.extend({ source: filePath, destination: filePath, overwrite: z.boolean() });
const transferred = { path: z.string(), source: z.string(), destination: z.string() };
const transferErrors = [...fileErrors, 'file_exists', 'no_space_left'] as const;

function transferView({ source, destination }: { readonly source: string; readonly destination: string }) {
  const shown = showPath(source);
  return { path: shown, source: shown, destination: showPath(destination) };
}

export const copyTree = operation({
  name: 'files.copy',
  input: Transfer,
  output: namedObject('Copied', {
    ...transferred,
    is_directory: z.boolean(),
    files_copied: z.int().describe('Regular files; links and directories do not count.'),
    bytes_copied: z.int().describe('Bytes of their contents.'),
    skipped: z.array(z.string()).describe('Pipes, sockets and devices of the tree, the first 1000: not copied.'),
  }),
  errors: transferErrors,
  async run({ files }, { user = null, ...input }) {
    const copied = await copyPath(files, { ...input, user });
    return { ...snakeKeys(copied), ...transferView(copied), skipped: copied.skipped.map(showPath) };
  },
});

export const moveTree = operation({
  name: 'files.move',
  input: Transfer,
  output: namedObject('Moved', transferred),
  errors: transferErrors,
  async run({ files }, { user = null, ...input }) {
    return transferView(await movePath(files, { ...input, user }));
  },
});

export const DeletionBody = z.object({
  path: filePath,
  recursive: z.boolean().default(false).describe('Delete a directory with its contents.'),
});

export const deleteTree = operation({
  name: 'files.delete',
  input: DeletionBody.extend(OwnerQuery.shape),
  output: namedObject('Deleted', { path: z.string(), deleted: z.boolean(), is_directory: z.boolean() }),
  errors: fileErrors,
  async run({ files }, { user = null, ...input }) {
    const { path, isDirectory } = await deletePath(files, { ...input, user });
    return { path: showPath(path), deleted: true, is_directory: isDirectory };
  },
});
