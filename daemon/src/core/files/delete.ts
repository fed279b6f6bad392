/** Deletes a file, a link or a directory. */
import { asFileOperation, errnoOf, FileFailure } from '../../kit/file-failure.ts';
import type { FilesContext } from './context.ts';
import { removeTree } from './remove-tree.ts';
import { openTarget, type Target } from './target.ts';

export interface DeleteRequest {
  readonly path: string;
  /** Whose home `~` is. */
  readonly user: string | null;
  /** A directory with all that is below it. */
  readonly recursive: boolean;
}

/** A link goes and what it points at stays. */
export async function deletePath(context: FilesContext, request: DeleteRequest): Promise<{ readonly path: string }> {
  const path = context.places.resolve(request.path, request.user);
  return asFileOperation('delete', path, async () => {
    const options = { operation: 'delete', followLinks: false } as const;
    await using target = await openTarget(context.openDirectory, path, options);
    await context.turns.take(await target.key(), async () => remove(await target.again(), request.recursive));
    return { path };
  });
}

async function remove({ directory, name, stat, path }: Target, recursive: boolean): Promise<void> {
  if (!stat?.isDirectory()) return directory.removeFile(name);
  if (recursive) return removeTree(directory, name, 'delete');
  try {
    await directory.removeDirectory(name);
  } catch (error) {
    if (errnoOf(error) !== 'ENOTEMPTY') throw error;
    const hint = 'With recursive: true a directory goes with all that is in it.';
    throw new FileFailure({ operation: 'delete', path, errnoName: 'ENOTEMPTY', hint });
  }
}
