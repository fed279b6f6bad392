/** What a listing tells of each of its entries, and what it is ordered by. */
import { promises as fs, type Stats } from 'node:fs';
import { posix } from 'node:path';
import { systemPath } from '../../kit/path-text.ts';
import { type Order, type Position, positionOf } from './ordering.ts';
import { mapBounded } from './slices.ts';
import { permissionsOf } from './stat.ts';
import type { Entry } from './walk.ts';

export interface ListedFile {
  readonly name: string;
  readonly path: string;
  readonly isDirectory: boolean;
  readonly isLink: boolean;
  /** In bytes; null, as the time is, where the daemon may not look. */
  readonly size: number | null;
  /** With the dot; empty without one, and for a directory. */
  readonly extension: string;
  readonly modifiedMs: number | null;
  readonly isHidden: boolean;
  /** As octal text: `644`. */
  readonly permissions: string | null;
}

/** An entry with its place in the order. */
export interface Candidate extends Position {
  readonly entry: Entry;
  /** Known already where the order needs it. */
  readonly status: Stats | null;
}

const statAtOnce = 16;

/** With the dot; empty without one, and for a directory. */
export function extensionOf({ name, isDirectory }: Pick<Entry, 'name' | 'isDirectory'>): string {
  return isDirectory ? '' : posix.extname(name);
}

export function isOfExtension(entry: Entry, extensions: readonly string[] | null): boolean {
  return extensions === null || entry.isDirectory || extensions.includes(extensionOf(entry));
}

/** An order by size or time needs a look at every entry; what goes meanwhile is ranked first. */
export async function ranked(entries: readonly Entry[], order: Order): Promise<Candidate[]> {
  if (order.by !== 'size' && order.by !== 'modified') {
    return entries.map((entry) => ({ ...positionOf(entry, order, kindOf(entry)), entry, status: null }));
  }
  return mapBounded(entries, statAtOnce, async (entry) => {
    const status = await statusOf(entry.path);
    const figure = (order.by === 'size' ? status?.size : status?.mtimeMs) ?? 0;
    return { ...positionOf(entry, order, figure), entry, status };
  });
}

/** Directories first, then what has no extension. */
function kindOf(entry: Entry): string {
  return entry.isDirectory ? '' : `.${extensionOf(entry)}`;
}

/** In the order that they come in. */
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

/** Of what a link points at; of the link itself where that is gone. */
async function statusOf(path: string): Promise<Stats | null> {
  const exact = systemPath(path);
  return fs.stat(exact).catch(() => fs.lstat(exact).catch(() => null)); // Gone, or out of reach: nothing is known.
}
