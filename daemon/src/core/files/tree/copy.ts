/** Copies a file, or a directory with everything below it. */
import { asFileOperation, FileFailure } from '../../../kit/file-failure.ts';
import type { Owner } from '../../../kit/types/owner.ts';
import type { FilesContext } from '../context.ts';
import { copyFile, copyTree, type CopyPlan } from './copy-tree.ts';
import { ownerFor } from '../owner.ts';
import { assertApart, assertNotInside, assertReplaceable, makeStaged, lockAll } from '../staged-entry.ts';
import { assertRegular, replaceFile } from '../write/replace.ts';
import { groupIn, openTarget, type Target } from '../target.ts';

export interface TransferRequest {
  readonly source: string;
  readonly destination: string;
  /** The owner of everything that is created, including missing parent directories. */
  readonly user: string | null;
  /** Replace an existing destination. */
  readonly overwrite: boolean;
}

export type Transferred = Pick<TransferRequest, 'source' | 'destination'>;

export interface Copied extends Transferred {
  /** Pipes, sockets and devices in the tree, up to a limit. */
  readonly skipped: readonly string[];
  readonly isDirectory: boolean;
  /** Counts of regular files and of their bytes. Links and directories are not counted. */
  readonly filesCopied: number;
  readonly bytesCopied: number;
}

const operation = 'copy';
const maxSkipped = 1000;

/** If the source is a link, copies its target. Links inside a tree stay links. */
export async function copyPath(context: FilesContext, request: TransferRequest): Promise<Copied> {
  const { paths, accounts, openDirectory, fileLocks } = context;
  const source = paths.resolve(request.source, request.user);
  const destination = paths.resolve(request.destination, request.user);
  const owner = ownerFor(accounts, request.user);
  return asFileOperation(operation, source, async () => {
    await using from = await openTarget(openDirectory, source, { operation, followLinks: true, access: 'read' });
    if (!from.stat) throw new FileFailure({ operation, path: source, errnoName: 'ENOENT' });
    if (!from.stat.isDirectory()) assertRegular(from, operation);
    await assertNotInside(openDirectory, from, destination, operation);
    const options = {
      operation,
      followLinks: !from.stat.isDirectory(),
      parents: { owner, parts: context.parts },
    } as const;
    await using to = await openTarget(openDirectory, destination, options);
    const copying: Copying = { owner, overwrite: request.overwrite, skipped: [], files: 0, bytes: 0 };
    const keys = [await from.key(), await to.key()];
    await lockAll(fileLocks, keys, async () => {
      await copyTo(context, await from.again(), await to.again(), copying);
    });
    const { skipped, files: filesCopied, bytes: bytesCopied } = copying;
    return { source, destination, skipped, isDirectory: from.stat.isDirectory(), filesCopied, bytesCopied };
  });
}

interface Copying {
  readonly owner: Owner | null;
  readonly overwrite: boolean;
  readonly skipped: string[];
  files: number;
  bytes: number;
}

async function copyTo(context: FilesContext, from: Target, to: Target, copying: Copying): Promise<void> {
  const placing = { operation, overwrite: copying.overwrite } as const;
  const { stat } = from;
  if (!stat) throw new FileFailure({ operation, path: from.path, errnoName: 'ENOENT' });
  assertReplaceable(stat, to, placing);
  await assertApart(context.openDirectory, from, to, operation);
  if (to.stat?.isFile() && stat.isFile()) return overwriteFile(context, from, to, copying);
  const above = await to.directory.own();
  const plan: CopyPlan = {
    operation,
    isMove: false,
    // A copied tree is not synced, as in cp(1). Syncing each file takes many times as long.
    isSynced: stat.isFile(),
    ownerOf: () => copying.owner && { uid: copying.owner.uid, gid: groupIn(above, copying.owner) },
    onFile: (size) => count(copying, size),
    onSpecial: (path) => copying.skipped.length < maxSkipped && copying.skipped.push(path),
  };
  const copy = stat.isDirectory() ? copyTree : copyFile;
  await makeStaged(context, to, placing, (part) => copy(context, from, part, plan));
}

function count(copying: Copying, size: bigint): void {
  copying.files += 1;
  copying.bytes += Number(size);
}

/** A replaced file keeps its owner, as in every write. */
async function overwriteFile(context: FilesContext, from: Target, to: Target, copying: Copying): Promise<void> {
  await using source = await from.directory.openToRead(from.name);
  const stat = await source.stat({ bigint: true });
  assertRegular({ stat, path: from.path }, operation);
  await replaceFile(context, to, {
    operation,
    owner: copying.owner,
    mode: Number(stat.mode & 0o777n),
    fill: async (file) => {
      await context.copyContent(source, file, stat);
      context.copyProperties(source, file, stat);
    },
  });
  count(copying, stat.size);
}
