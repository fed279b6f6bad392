/** Moves a file, a link, or a directory with everything below it. */
import type { BigIntStats } from 'node:fs';
import { errnoOf } from '../../../kit/errno.ts';
import { asFileOperation, FileFailure } from '../../../kit/file-failure.ts';
import type { FilesContext } from '../context.ts';
import { copyFile, copyLink, copyTree, makePrivate, type CopyPlan } from './copy-tree.ts';
import type { TransferRequest, Transferred } from './copy.ts';
import { isSameFile } from './tree-cursor.ts';
import { ownerFor } from '../owner.ts';
import { assertApart, assertNotInside, assertReplaceable, makeStaged, put, lockAll } from '../staged-entry.ts';
import { clearPart } from '../parts.ts';
import { refuseMounts, removeAny } from './remove-tree.ts';
import { kindOf } from '../write/replace.ts';
import { openTarget, type Target } from '../target.ts';

const operation = 'move';

/** Moves a link itself, not its target. Owner, mode and times are kept, also on another file system. */
export async function movePath(context: FilesContext, request: TransferRequest): Promise<Transferred> {
  const { paths, accounts, openDirectory, fileLocks } = context;
  const source = paths.resolve(request.source, request.user);
  const destination = paths.resolve(request.destination, request.user);
  const owner = ownerFor(accounts, request.user);
  return asFileOperation(operation, source, async () => {
    await using from = await openTarget(openDirectory, source, { operation, followLinks: false });
    if (!from.stat) throw new FileFailure({ operation, path: source, errnoName: 'ENOENT' });
    await assertNotInside(openDirectory, from, destination, operation);
    const options = { operation, followLinks: false, parents: { owner, parts: context.parts } } as const;
    await using to = await openTarget(openDirectory, destination, options);
    const keys = [await from.key(), await to.key()];
    await lockAll(fileLocks, keys, async () =>
      moveTo(context, await from.again(), await to.again(), request.overwrite),
    );
    return { source, destination };
  });
}

async function moveTo(context: FilesContext, from: Target, to: Target, overwrite: boolean): Promise<void> {
  const placing = { operation, overwrite } as const;
  const { stat } = from;
  if (!stat) throw new FileFailure({ operation, path: from.path, errnoName: 'ENOENT' });
  assertReplaceable(stat, to, placing);
  if (to.stat && isSameFile(stat, to.stat) && (await from.key()) !== (await to.key())) {
    // rename(2) does nothing when both names are hard links to the same file.
    return from.directory.removeFile(from.name);
  }
  await assertApart(context.openDirectory, from, to, operation);
  try {
    await from.directory.change(() => to.directory.change(() => put(context, from, to, placing)));
  } catch (error) {
    if (errnoOf(error) !== 'EXDEV') throw error;
    return moveAcross(context, from, to, stat, overwrite);
  }
}

/** Moves to another file system: syncs a copy to the disk, then removes the original. */
async function moveAcross(
  context: FilesContext,
  from: Target,
  to: Target,
  stat: BigIntStats,
  overwrite: boolean,
): Promise<void> {
  if (stat.isDirectory()) await refuseMounts(from.directory, from.name, operation);
  const placing = { operation, overwrite } as const;
  if (stat.isSymbolicLink()) await moveLink(context, from, to, stat, overwrite);
  else if (stat.isDirectory()) await makeStaged(context, to, placing, (part) => copyTree(context, from, part, plan));
  else if (stat.isFile()) await makeStaged(context, to, placing, (part) => copyFile(context, from, part, plan));
  else plan.onSpecial(from.path, stat);
  await from.directory.change(() => removeAny(from, operation));
}

const plan: CopyPlan = {
  operation,
  isMove: true,
  isSynced: true,
  ownerOf: ({ uid, gid }) => ({ uid: Number(uid), gid: Number(gid) }),
  onFile: () => undefined,
  onSpecial(path, stat) {
    throw FileFailure.of(operation, path, 'EINVAL', {
      kind: 'invalidTarget',
      message: `${path}: is ${kindOf(stat)}, which cannot be moved to another file system`,
      hint: 'Remove it first, or choose a destination on the same file system.',
    });
  },
};

/** Creates the link in a private directory, because the owner of a link can only be changed by name. */
async function moveLink(
  context: FilesContext,
  from: Target,
  to: Target,
  stat: BigIntStats,
  overwrite: boolean,
): Promise<void> {
  const part = await context.parts.add(to.directory.path);
  const place = { directory: to.directory, name: part.name };
  try {
    await using room = await makePrivate(place, operation);
    const link = { directory: room, name: 'link' };
    await copyLink(from, link, stat, plan);
    await put(context, link, to, { operation, overwrite });
  } finally {
    await clearPart(place, part, operation);
  }
}
