/** Describes the entries of a listing and ranks them for sorting. */
import { promises as fs, type Stats } from 'node:fs';
import { posix } from 'node:path';
import { systemPath } from '../../../kit/text/path-text.ts';
import { type Order, type Position, positionOf } from './ordering.ts';
import { mapBounded } from '../slices.ts';
import { permissionsOf } from './stat.ts';
import type { Entry } from '../tree/walk.ts';

export interface ListedFile extends Entry {
  /** Size in bytes. Null when the daemon cannot stat the entry; the time is then null too. */
  readonly size: number | null;
  /** The extension with its dot. Empty for a directory or a name without an extension. */
  readonly extension: string;
  readonly modifiedMs: number | null;
  readonly isHidden: boolean;
  /** Octal text, for example `644`. */
  readonly permissions: string | null;
}

export interface Candidate extends Position {
  readonly entry: Entry;
  /** The stat result, if the sort order needed one. */
  readonly status: Stats | null;
}

const statAtOnce = 16;

/** The extension with its dot. Empty for a directory or a name without an extension. */
export function extensionOf({ name, isDirectory }: Pick<Entry, 'name' | 'isDirectory'>): string {
  return isDirectory ? '' : posix.extname(name);
}

export function isOfExtension(entry: Entry, extensions: readonly string[] | null): boolean {
  return extensions === null || entry.isDirectory || extensions.includes(extensionOf(entry));
}

/** Sorting by size or time needs a stat call for every entry. An entry deleted meanwhile gets rank 0. */
export async function ranked(entries: readonly Entry[], order: Order): Promise<Candidate[]> {
  if (order.by !== 'size' && order.by !== 'modified') {
    return entries.map((entry) => ({ ...positionOf(entry, order, kindOf(entry)), entry, status: null }));
  }
  return mapBounded(entries, statAtOnce, async (entry) => {
    const status = await statusOf(entry.path);
    const value = (order.by === 'size' ? status?.size : status?.mtimeMs) ?? 0;
    return { ...positionOf(entry, order, value), entry, status };
  });
}

/** Sorts directories first, then files without an extension. */
function kindOf(entry: Entry): string {
  return entry.isDirectory ? '' : `.${extensionOf(entry)}`;
}

/** Keeps the given order. */
export function describe(candidates: readonly Candidate[]): Promise<ListedFile[]> {
  return mapBounded(candidates, statAtOnce, describeOne);
}

async function describeOne({ entry, status: known }: Candidate): Promise<ListedFile> {
  const { name, path, isDirectory, isLink } = entry;
  const status = known ?? (await statusOf(path));
  return {
    name,
    path,
    isDirectory,
    isLink,
    size: status?.size ?? null,
    extension: extensionOf(entry),
    modifiedMs: status?.mtimeMs ?? null,
    isHidden: name.startsWith('.'),
    permissions: status && permissionsOf(status),
  };
}

/** The stat of the target of a link. If the target is missing, the stat of the link itself. */
async function statusOf(path: string): Promise<Stats | null> {
  const exact = systemPath(path);
  return fs.stat(exact).catch(() => fs.lstat(exact).catch(() => null)); // The entry is missing or unreachable.
}
