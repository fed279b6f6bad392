/** Deletes a file, a link or a directory. */
import { errnoOf } from '../../../kit/errno.ts';
import { asFileOperation, FileFailure } from '../../../kit/file-failure.ts';
import type { FileRequest, FilesContext } from '../context.ts';
import type { FileStat } from '../read/stat.ts';
import { removeTree } from './remove-tree.ts';
import { openTarget, type Target } from '../target.ts';

export interface DeleteRequest extends FileRequest {
  /** Delete a directory with everything below it. */
  readonly recursive: boolean;
}

/** A link to a directory is not a directory. */
export type DeletedPath = Pick<FileStat, 'path' | 'isDirectory'>;

/** Deletes a link but not its target. */
export async function deletePath(context: FilesContext, request: DeleteRequest): Promise<DeletedPath> {
  const path = context.paths.resolve(request.path, request.user);
  return asFileOperation('delete', path, async () => {
    const options = { operation: 'delete', followLinks: false } as const;
    await using target = await openTarget(context.openDirectory, path, options);
    const isDirectory = target.stat?.isDirectory() ?? false;
    await context.fileLocks.run(await target.key(), async () => remove(await target.again(), request.recursive));
    return { path, isDirectory };
  });
}

async function remove({ directory, name, stat, path }: Target, recursive: boolean): Promise<void> {
  if (!stat?.isDirectory()) return directory.removeFile(name);
  if (recursive) return removeTree(directory, name, 'delete');
  try {
    await directory.removeDirectory(name);
  } catch (error) {
    if (errnoOf(error) !== 'ENOTEMPTY') throw error;
    const hint = 'Set recursive to true to delete a directory with its content.';
    throw new FileFailure({ operation: 'delete', path, errnoName: 'ENOTEMPTY', hint });
  }
}
