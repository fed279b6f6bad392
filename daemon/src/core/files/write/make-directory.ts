/** Creates a directory, and its missing parent directories on request. */
import { errnoOf } from '../../../kit/errno.ts';
import { FileFailure, asFileOperation } from '../../../kit/file-failure.ts';
import type { FileRequest, FilesContext } from '../context.ts';
import { ownerFor } from '../owner.ts';
import { createOwned, openTarget } from '../target.ts';

export interface MakeDirectoryRequest extends FileRequest {
  /** Create missing parent directories, and accept an existing directory. */
  readonly parents: boolean;
  /** Permission bits. If absent, the directory gets the default bits. */
  readonly mode?: number;
}

export async function makeDirectory(
  context: FilesContext,
  request: MakeDirectoryRequest,
): Promise<{ readonly path: string; readonly created: boolean }> {
  const path = context.paths.resolve(request.path, request.user);
  const owner = ownerFor(context.accounts, request.user);
  return asFileOperation('mkdir', path, async () => {
    if (path === '/') return existing(path, request.parents);
    const parents = request.parents ? { parents: { owner, parts: context.parts } } : {};
    const options = { operation: 'mkdir', followLinks: true, ...parents } as const;
    await using target = await openTarget(context.openDirectory, path, options);
    if (target.stat?.isDirectory()) return existing(path, request.parents);
    if (target.stat) throw new FileFailure({ operation: 'mkdir', path, errnoName: 'EEXIST' });
    try {
      await using _ = await createOwned(target.directory, target.name, { owner, parts: context.parts }, request.mode);
    } catch (error) {
      // When several requests create the directory at the same time, one request succeeds and the others find the
      // directory here.
      const isThere = errnoOf(error) === 'EEXIST' && (await target.again()).stat?.isDirectory() === true;
      if (!isThere) throw error;
      return existing(path, request.parents);
    }
    return { path, created: true };
  });
}

function existing(path: string, isWelcome: boolean): { readonly path: string; readonly created: boolean } {
  if (isWelcome) return { path, created: false };
  throw FileFailure.of('mkdir', path, 'EEXIST', {
    hint: 'Set parents to true to accept an existing directory.',
  });
}
