/** Copies a file, or a directory with all that is below it. */
import { asFileOperation, FileFailure } from '../../kit/file-failure.ts';
import type { FilesContext } from './context.ts';
import { copyFile, copyTree, type CopyPlan } from './copy-tree.ts';
import { ownerFor, type Owner } from './owner.ts';
import { assertApart, assertNotInside, assertReplaceable, makeInPlace, takeAll } from './place.ts';
import { assertRegular, replaceFile } from './replace.ts';
import { groupIn, openTarget, type Target } from './target.ts';

export interface TransferRequest {
  readonly source: string;
  readonly destination: string;
  /** Who owns what is created, missing directories on the way included. */
  readonly user: string | null;
  /** What is at the destination is replaced. */
  readonly overwrite: boolean;
}

export interface Transferred {
  readonly source: string;
  readonly destination: string;
}

export interface Copied extends Transferred {
  /** Pipes, sockets and devices of the tree; not more than are worth reading. */
  readonly skipped: readonly string[];
}

const operation = 'copy';
const mostSkipped = 1000;

/** A link as the source stands for what it points at; links in a tree stay links. */
export async function copyPath(context: FilesContext, request: TransferRequest): Promise<Copied> {
  const { places, accounts, openDirectory, turns } = context;
  const source = places.resolve(request.source, request.user);
  const destination = places.resolve(request.destination, request.user);
  const owner = ownerFor(accounts, request.user);
  return asFileOperation(operation, source, async () => {
    await using from = await openTarget(openDirectory, source, { operation, followLinks: true, access: 'read' });
    if (!from.stat) throw new FileFailure({ operation, path: source, errnoName: 'ENOENT' });
    if (!from.stat.isDirectory()) assertRegular(from, operation);
    await assertNotInside(openDirectory, from, destination, operation);
    const options = { operation, followLinks: !from.stat.isDirectory(), parents: { owner } } as const;
    await using to = await openTarget(openDirectory, destination, options);
    const skipped: string[] = [];
    const keys = [await from.key(), await to.key()];
    await takeAll(turns, keys, async () => {
      await copyTo(context, await from.again(), await to.again(), { owner, skipped, overwrite: request.overwrite });
    });
    return { source, destination, skipped };
  });
}

interface Copying {
  readonly owner: Owner | null;
  readonly overwrite: boolean;
  readonly skipped: string[];
}

async function copyTo(context: FilesContext, from: Target, to: Target, copying: Copying): Promise<void> {
  const placing = { operation, overwrite: copying.overwrite } as const;
  const { stat } = from;
  if (!stat) throw new FileFailure({ operation, path: from.path, errnoName: 'ENOENT' });
  assertReplaceable(stat, to, placing);
  await assertApart(context.openDirectory, from, to, operation);
  if (to.stat?.isFile() && stat.isFile()) return overwriteFile(context, from, to, copying.owner);
  const above = await to.directory.own();
  const plan: CopyPlan = {
    operation,
    isMove: false,
    // A tree is left to the system, as cp(1) leaves it: to wait for each of its files takes many times as long.
    isSynced: stat.isFile(),
    ownerOf: () => copying.owner && { uid: copying.owner.uid, gid: groupIn(above, copying.owner) },
    onSpecial: (path) => copying.skipped.length < mostSkipped && copying.skipped.push(path),
  };
  const copy = stat.isDirectory() ? copyTree : copyFile;
  await makeInPlace(context, to, placing, (part) => copy(context, from, part, plan));
}

/** What is replaced keeps its owner, as in every write. */
async function overwriteFile(context: FilesContext, from: Target, to: Target, owner: Owner | null): Promise<void> {
  await using source = await from.directory.openToRead(from.name);
  const stat = await source.stat({ bigint: true });
  assertRegular({ stat, path: from.path }, operation);
  await replaceFile(context, to, {
    operation,
    owner,
    mode: Number(stat.mode & 0o777n),
    fill: async (file) => {
      await context.copyContent(source, file, stat);
      context.copyProperties(source, file, stat);
    },
  });
}
