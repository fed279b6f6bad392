/** Creates a text file where there is none, and takes that back. */
import { CoreError } from '../../kit/errors.ts';
import { asFileOperation, FileFailure } from '../../kit/file-failure.ts';
import { showPath } from '../../kit/path-text.ts';
import type { FilesContext } from './context.ts';
import { textOf } from './edit.ts';
import { etagOf } from './etag.ts';
import { ownerFor, type Owner } from './owner.ts';
import { makeInPlace } from './place.ts';
import type { Place } from './remove-tree.ts';
import { writeAll } from './replace.ts';
import { groupIn } from './target.ts';
import { changeFile } from './write.ts';

const operation = 'edit';

export interface CreateRequest {
  readonly path: string;
  /** Who owns it, and the directories on the way that are missing. */
  readonly user: string | null;
  readonly text: string;
}

/** Throws `file_exists`, also where somebody else is quicker. */
export async function createFile(context: FilesContext, request: CreateRequest): Promise<{ readonly path: string }> {
  const path = context.places.resolve(request.path, request.user);
  const owner = ownerFor(context.accounts, request.user);
  return asFileOperation(operation, path, () =>
    changeFile(context, { operation, path, parents: { owner } }, async (target, key) => {
      const hint = 'Edit what is there, or choose another path.';
      if (target.stat) throw new FileFailure({ operation, path, errnoName: 'EEXIST', hint });
      await makeInPlace(context, target, { operation, overwrite: false }, (part) => fill(part, request.text, owner));
      context.edits.add(key, { oldText: null, etag: etagOf(await target.directory.stat(target.name)) });
      return { path };
    }),
  );
}

async function fill({ directory, name }: Place, text: string, owner: Owner | null): Promise<void> {
  await using file = await directory.createFile(name, 0o666);
  await writeAll(file, Buffer.from(text));
  if (owner) await file.chown(owner.uid, groupIn(await directory.own(), owner));
  await file.sync();
}

export interface UndoneCreation {
  readonly path: string;
  readonly oldContent: string;
}

/**
 * Removes a file whose last edit was its creation; null where it was another edit, or none. What others have written
 * into it since is not removed: throws `precondition_failed`.
 */
export async function undoCreation(
  context: FilesContext,
  request: Pick<CreateRequest, 'path' | 'user'>,
): Promise<UndoneCreation | null> {
  const path = context.places.resolve(request.path, request.user);
  return asFileOperation(operation, path, () =>
    changeFile(context, { operation, path }, async (target, key) => {
      const edition = context.edits.last(key);
      if (edition?.oldText !== null || !target.stat) return null;
      if (edition.etag !== etagOf(target.stat)) {
        const hint = 'Delete it, if what is in it now is to be lost.';
        throw new CoreError('precondition_failed', `${showPath(path)}: has changed since it was created`, { hint });
      }
      const oldContent = await textOf(target, path);
      await target.directory.removeFile(target.name);
      context.edits.takeBack(key, '');
      return { path, oldContent };
    }),
  );
}
