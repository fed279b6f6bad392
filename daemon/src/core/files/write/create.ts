/** Creates a new text file, and undoes the creation. */
import { CoreError } from '../../../kit/errors.ts';
import { asFileOperation, FileFailure } from '../../../kit/file-failure.ts';
import { showPath } from '../../../kit/text/path-text.ts';
import type { Owner } from '../../../kit/types/owner.ts';
import type { FilesContext } from '../context.ts';
import { textOf, type EditResult } from './edit.ts';
import { etagOf } from '../read/etag.ts';
import { ownerFor } from '../owner.ts';
import { makeStaged } from '../staged-entry.ts';
import type { EntryName } from '../tree/remove-tree.ts';
import { writeAll } from './replace.ts';
import { groupIn } from '../target.ts';
import { changeFile } from './write.ts';

const operation = 'edit';

export interface CreateRequest {
  readonly path: string;
  /** The owner of the file and of missing parent directories. */
  readonly user: string | null;
  readonly text: string;
}

/** Throws `file_exists`, also when another process creates the file first. */
export async function createFile(context: FilesContext, request: CreateRequest): Promise<{ readonly path: string }> {
  const path = context.paths.resolve(request.path, request.user);
  const owner = ownerFor(context.accounts, request.user);
  return asFileOperation(operation, path, () =>
    changeFile(context, { operation, path, parents: { owner, parts: context.parts } }, async (target, key) => {
      const hint = 'Edit the existing file, or choose another path.';
      if (target.stat) throw new FileFailure({ operation, path, errnoName: 'EEXIST', hint });
      await makeStaged(context, target, { operation, overwrite: false }, (part) => fill(part, request.text, owner));
      context.edits.add(key, { old: null, etag: etagOf(await target.directory.stat(target.name)) });
      return { path };
    }),
  );
}

async function fill({ directory, name }: EntryName, text: string, owner: Owner | null): Promise<void> {
  await using file = await directory.createFile(name, 0o666);
  await writeAll(file, Buffer.from(text));
  if (owner) await file.chown(owner.uid, groupIn(await directory.own(), owner));
  await file.sync();
}

export type UndoneCreation = Pick<EditResult, 'path' | 'oldContent'>;

/**
 * Removes a file whose last edit was its creation. Returns null when the last edit was another edit, or when there is
 * no edit. Throws `precondition_failed` when another writer has changed the file since.
 */
export async function undoCreation(
  context: FilesContext,
  request: Pick<CreateRequest, 'path' | 'user'>,
): Promise<UndoneCreation | null> {
  const path = context.paths.resolve(request.path, request.user);
  return asFileOperation(operation, path, () =>
    changeFile(context, { operation, path }, async (target, key) => {
      const edition = context.edits.last(key);
      if (edition?.old !== null || !target.stat) return null;
      if (edition.etag !== etagOf(target.stat)) {
        const hint = 'Delete the file to discard its present content.';
        throw new CoreError('precondition_failed', `${showPath(path)}: has changed since it was created`, { hint });
      }
      const { text: oldContent } = await textOf(target, path);
      await target.directory.removeFile(target.name);
      context.edits.takeBack(key, '');
      return { path, oldContent };
    }),
  );
}
