/** Lists a directory or a whole tree, a page at a time. */
import { promises as fs, type Stats } from 'node:fs';
import { posix } from 'node:path';
import { systemPath } from '../../kit/path-text.ts';
import type { FilesContext } from './context.ts';
import { comparePositions, decodeCursor, encodeCursor, type Order, type Position, positionOf } from './ordering.ts';
import { SkippedList, type SkippedSummary } from './skipped.ts';
import { Slices } from '../../kit/slices.ts';
import { FirstOf, mapBounded } from './slices.ts';
import { type Entry, walk } from './walk.ts';

export interface ListRequest {
  readonly path: string;
  readonly user: string | null;
  readonly isRecursive: boolean;
  /** 1 is the directory itself; null is no bound. */
  readonly maxDepth: number | null;
  readonly showsHidden: boolean;
  readonly obeysGitignore: boolean;
  readonly order: Order;
  /** Of an earlier page; null begins. */
  readonly cursor: string | null;
  /** Entries of the page. */
  readonly limit: number;
}

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
}

export interface Listing extends SkippedSummary {
  readonly path: string;
  /** The page, in order. */
  readonly files: readonly ListedFile[];
  /** Of the whole listing, not of the page. */
  readonly fileCount: number;
  readonly directoryCount: number;
  /** Null where nothing follows. */
  readonly nextCursor: string | null;
}

interface Candidate extends Position {
  readonly entry: Entry;
  /** Known already where the order needs it. */
  readonly status: Stats | null;
}

/** The most entries of one page. */
export const maxPage = 10_000;
const statAtOnce = 16;

/** Throws the `FileFailure` of the directory, and `bad_argument`. */
export async function list({ places }: FilesContext, request: ListRequest, signal: AbortSignal): Promise<Listing> {
  const path = places.resolve(request.path, request.user);
  const { order } = request;
  const slices = new Slices();
  const skipped = new SkippedList();
  const compare = comparePositions(order);
  const after = request.cursor === null ? null : decodeCursor(request.cursor, order);
  const page = new FirstOf<Candidate>(request.limit, compare, slices);
  let [fileCount, directoryCount, candidates] = [0, 0, 0];
  for await (const entries of visible(path, request, slices, skipped, signal)) {
    for (const candidate of await ranked(entries, order)) {
      if (slices.isOver) await slices.pause();
      if (candidate.entry.isDirectory) directoryCount += 1;
      else fileCount += 1;
      if (after !== null && compare(candidate, after) <= 0) continue;
      candidates += 1;
      await page.add(candidate);
    }
  }
  const taken = await page.take();
  const last = taken.at(-1);
  return {
    path,
    files: await mapBounded(taken, statAtOnce, describe),
    fileCount,
    directoryCount,
    nextCursor: last && candidates > taken.length ? encodeCursor(order, last) : null,
    ...skipped.summary(),
  };
}

/** Some entries at a time: a directory may hold very many. */
async function* visible(
  root: string,
  { isRecursive, maxDepth, showsHidden, obeysGitignore }: ListRequest,
  slices: Slices,
  skipped: SkippedList,
  signal: AbortSignal,
): AsyncGenerator<readonly Entry[]> {
  const deepest = isRecursive ? (maxDepth ?? Infinity) : 1;
  const batches = walk<true>({
    operation: 'list',
    root,
    start: true,
    enter: (_entry, depth) => (depth < deepest ? true : null),
    sees: (name) => showsHidden || !name.startsWith('.'),
    obeysGitignore,
    slices,
    signal,
    onSkipped: (one) => skipped.add(one),
  });
  for await (const { entries } of batches) {
    for (let at = 0; at < entries.length && !signal.aborted; at += 512) yield entries.slice(at, at + 512);
  }
}

/** An order by size or time needs a look at every entry; what goes meanwhile is ranked first. */
async function ranked(entries: readonly Entry[], order: Order): Promise<Candidate[]> {
  if (order.by === 'path' || order.by === 'name') {
    return entries.map((entry) => ({ ...positionOf(entry, order, 0), entry, status: null }));
  }
  return mapBounded(entries, statAtOnce, async (entry) => {
    const status = await statusOf(entry.path);
    const figure = (order.by === 'size' ? status?.size : status?.mtimeMs) ?? 0;
    return { ...positionOf(entry, order, figure), entry, status };
  });
}

async function describe({ entry, status: known }: Candidate): Promise<ListedFile> {
  const { name, path, isDirectory, isLink } = entry;
  const status = known ?? (await statusOf(path));
  return {
    name,
    path,
    isDirectory,
    isLink,
    size: status?.size ?? null,
    extension: isDirectory ? '' : posix.extname(name),
    modifiedMs: status?.mtimeMs ?? null,
    isHidden: name.startsWith('.'),
  };
}

/** Of what a link points at; of the link itself where that is gone. */
async function statusOf(path: string): Promise<Stats | null> {
  const exact = systemPath(path);
  return fs.stat(exact).catch(() => fs.lstat(exact).catch(() => null)); // Gone, or out of reach: nothing is known.
}
