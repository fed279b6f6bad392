/**
 * Copies a directory with everything below it. Until the copy is complete, only the daemon can enter it (mode 700), so
 * that no other account can plant files in it. Each directory gets its owner and mode after its contents.
 */
import { guarding } from '../../../kit/guarding.ts';
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { errnoOf } from '../../../kit/errno.ts';
import type { FileOperation } from '../../../kit/file-failure.ts';
import { TimeSlices } from '../../../kit/slices.ts';
import type { Owner } from '../../../kit/types/owner.ts';
import type { CopySettings } from '../../../platform/files/small-file.ts';
import type { Directory } from '../../../platform/files/directory.ts';
import type { FilesContext } from '../context.ts';
import { TreeCursor, isSameFile, movedAway } from './tree-cursor.ts';
import type { EntryName } from './remove-tree.ts';

export interface CopyPlan {
  readonly operation: FileOperation;
  /** Owner of the copy of an entry with this stat; null is the daemon's account. */
  ownerOf(stat: BigIntStats): Owner | null;
  /** True for a move: the copy keeps the owner and all mode bits. */
  readonly isMove: boolean;
  /** Sync all data to the disk before the copy moves to its destination. */
  readonly isSynced: boolean;
  onFile(size: bigint): void;
  /** Called for each pipe, socket and device. These have no content to copy. */
  onSpecial(path: string, stat: BigIntStats): void;
}

/** Number of larger files copied in parallel. */
const atOnce = 16;
/** A file up to this size is copied at once. */
const smallBytes = 64 * 1024;
const permissionBits = { own: 0o777n, all: 0o7777n } as const;

export async function copyTree(context: FilesContext, from: EntryName, to: EntryName, plan: CopyPlan): Promise<void> {
  await using source = new TreeCursor(await from.directory.openDirectory(from.name), plan.operation);
  await using target = new TreeCursor(await makePrivate(to, plan.operation), plan.operation);
  const copy = await target.here.own();
  const stats = [await source.here.own()];
  const inner = [await copyEntries(context, source.here, target.here, plan)];
  for (;;) {
    const next = inner.at(-1)?.pop();
    const stat = stats.at(-1) ?? copy;
    if (next !== undefined) {
      await source.down((here) => here.openDirectory(next));
      const entered = await source.here.own();
      if (isSameFile(entered, copy)) throw movedAway(to.directory.path, plan.operation);
      await target.down((here) => here.makeDirectory(next, 0o700));
      stats.push(entered);
      inner.push(await copyEntries(context, source.here, target.here, plan));
    } else if (source.depth > 0) {
      await target.up((left) => finishDirectory(source.here, left, stat, plan));
      await source.up();
      stats.pop();
      inner.pop();
    } else {
      return await finishDirectory(source.here, target.here, stat, plan);
    }
  }
}

/** Creates a directory that only the daemon can enter. */
export async function makePrivate({ directory, name }: EntryName, operation: FileOperation): Promise<Directory> {
  const made = await directory.makeDirectory(name, 0o700);
  return await guarding(made, async () => {
    const { uid, mode } = await made.own();
    const isOurs = uid === BigInt(process.geteuid?.() ?? 0) && (mode & permissionBits.own) === 0o700n;
    if (!isOurs || (await made.names()).length > 0) throw movedAway(directory.path, operation);
    return made;
  });
}

/** Copies everything except directories. Returns the names of the directories. */
async function copyEntries(context: FilesContext, from: Directory, to: Directory, plan: CopyPlan): Promise<string[]> {
  const names = plan.isSynced ? await from.names() : await copySmallFiles(from, to, plan);
  const directories: string[] = [];
  for (let at = 0; at < names.length; at += atOnce) {
    const copies = names.slice(at, at + atOnce).map(async (name) => {
      const stat = await from.find(name);
      if (stat?.isDirectory()) directories.push(name);
      else if (stat) await copyEntry(context, stat, { directory: from, name }, { directory: to, name }, plan);
    });
    // Wait for all copies, so that none still runs when the caller sees the failure.
    const outcomes = await Promise.allSettled(copies);
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
  }
  return directories;
}

/** Copies small regular files in time slices. Returns the names of all other entries. */
async function copySmallFiles(from: Directory, to: Directory, plan: CopyPlan): Promise<string[]> {
  const slices = new TimeSlices();
  const others: string[] = [];
  const settings: CopySettings = {
    ownerOf: (stat) => plan.ownerOf(stat),
    isOwnerOptional: plan.isMove,
    modeOf: (stat, isOwnerGiven) => modeOf(stat, plan, isOwnerGiven),
  };
  for (const { name, isFile } of await from.entries()) {
    const stat = isFile ? from.copyNow(name, to, smallBytes, settings) : null;
    if (stat) plan.onFile(stat.size);
    else others.push(name);
    if (slices.isOver) await slices.pause();
  }
  return others;
}

function modeOf(stat: BigIntStats, { isMove }: CopyPlan, isOwnerGiven: boolean): number {
  return Number(stat.mode & (isMove && isOwnerGiven ? permissionBits.all : permissionBits.own));
}

async function copyEntry(
  context: FilesContext,
  stat: BigIntStats,
  from: EntryName,
  to: EntryName,
  plan: CopyPlan,
): Promise<void> {
  if (stat.isSymbolicLink()) await copyLink(from, to, stat, plan);
  else if (stat.isFile()) await copyFile(context, from, to, plan);
  else plan.onSpecial(`${from.directory.path}/${from.name}`, stat);
}

/** Changes the owner of the link by name. This is safe only in a directory that only the daemon can enter. */
export async function copyLink(from: EntryName, to: EntryName, stat: BigIntStats, plan: CopyPlan): Promise<void> {
  await to.directory.makeLink(to.name, await from.directory.readLink(from.name));
  const owner = plan.ownerOf(stat);
  if (owner) await giveOwner(plan, () => to.directory.changeOwner(to.name, owner.uid, owner.gid));
  await to.directory.setTimes(to.name, stat);
}

export async function copyFile(context: FilesContext, from: EntryName, to: EntryName, plan: CopyPlan): Promise<void> {
  await using source = await from.directory.openToRead(from.name);
  const stat = await source.stat({ bigint: true });
  if (!stat.isFile()) throw movedAway(`${from.directory.path}/${from.name}`, plan.operation);
  await using file = await to.directory.createFile(to.name, 0o600);
  await context.copyContent(source, file, stat);
  await settleFile(context, source, file, stat, plan);
  plan.onFile(stat.size);
}

/** The order matters: chown clears mode bits, so chmod comes last. */
async function settleFile(
  { copyProperties }: FilesContext,
  source: FileHandle,
  file: FileHandle,
  stat: BigIntStats,
  plan: CopyPlan,
): Promise<void> {
  const owner = plan.ownerOf(stat);
  const isGiven = !owner || (await giveOwner(plan, () => file.chown(owner.uid, owner.gid)));
  copyProperties(source, file, stat);
  await file.chmod(modeOf(stat, plan, isGiven));
  if (plan.isSynced) await file.sync();
}

async function finishDirectory(from: Directory, to: Directory, stat: BigIntStats, plan: CopyPlan): Promise<void> {
  const owner = plan.ownerOf(stat);
  await to.resemble(from, stat);
  if (owner) await giveOwner(plan, () => to.changeOwn(owner));
  await to.changeOwn({ mode: Number(stat.mode & permissionBits.all) });
  if (plan.isSynced) await to.sync();
}

/** Like mv(1), a daemon that is not root remains the owner of moved files. Returns false in this case. */
async function giveOwner({ isMove }: CopyPlan, give: () => Promise<void>): Promise<boolean> {
  try {
    await give();
    return true;
  } catch (error) {
    if (isMove && errnoOf(error) === 'EPERM') return false;
    throw error;
  }
}
