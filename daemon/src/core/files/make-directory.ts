/** Makes a directory, and those above it where that is asked for. */
import { FileFailure, asFileOperation, errnoOf } from '../../kit/file-failure.ts';
import type { FilesContext } from './context.ts';
import { ownerFor } from './owner.ts';
import { createOwned, openTarget } from './target.ts';

export interface MakeDirectoryRequest {
  readonly path: string;
  readonly user: string | null;
  /** Makes what is missing on the way, and is content with a directory that is there. */
  readonly parents: boolean;
  /** Permission bits; absent: those that a new directory has. */
  readonly mode?: number;
}

export async function makeDirectory(
  context: FilesContext,
  request: MakeDirectoryRequest,
): Promise<{ readonly path: string; readonly created: boolean }> {
  const path = context.places.resolve(request.path, request.user);
  const owner = ownerFor(context.accounts, request.user);
  return asFileOperation('mkdir', path, async () => {
    if (path === '/') return existing(path, request.parents);
    const parents = request.parents ? { parents: { owner } } : {};
    const options = { operation: 'mkdir', followLinks: true, ...parents } as const;
    await using target = await openTarget(context.openDirectory, path, options);
    if (target.stat?.isDirectory()) return existing(path, request.parents);
    if (target.stat) throw new FileFailure({ operation: 'mkdir', path, errnoName: 'EEXIST' });
    try {
      await using _ = await createOwned(target.directory, target.name, owner, request.mode);
    } catch (error) {
      // Of many that make it at the same time, one has made it.
      const isThere = errnoOf(error) === 'EEXIST' && (await target.again()).stat?.isDirectory() === true;
      if (!isThere) throw error;
      return existing(path, request.parents);
    }
    return { path, created: true };
  });
}

function existing(path: string, isWelcome: boolean): { readonly path: string; readonly created: boolean } {
  if (isWelcome) return { path, created: false };
  throw new FileFailure({
    operation: 'mkdir',
    path,
    errnoName: 'EEXIST',
    hint: 'With parents: true a directory that is there is welcome.',
  });
}
