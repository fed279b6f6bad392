/** Lists a directory or a whole tree, a page at a time. */
import type { FilesContext } from './context.ts';
import { type Candidate, describe, isOfExtension, type ListedFile, ranked } from './listed-file.ts';
import { comparePositions, decodeCursor, encodeCursor, type Order } from './ordering.ts';
import { SkippedList, type SkippedSummary } from './skipped.ts';
import { Slices } from '../../kit/slices.ts';
import { FirstOf } from './slices.ts';
import { type Entry, walk } from './walk.ts';

export interface ListRequest {
  readonly path: string;
  readonly user: string | null;
  readonly isRecursive: boolean;
  /** 1 is the directory itself; null is no bound. */
  readonly maxDepth: number | null;
  readonly showsHidden: boolean;
  readonly obeysGitignore: boolean;
  /** Files with one of these alone, each with its dot; null is any. Directories are always listed. */
  readonly extensions: readonly string[] | null;
  readonly order: Order;
  /** Of an earlier page; null begins. */
  readonly cursor: string | null;
  /** Entries of the page. */
  readonly limit: number;
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

/** The most entries of one page. */
export const maxPage = 10_000;

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
      if (!isOfExtension(candidate.entry, request.extensions)) continue;
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
    files: await describe(taken),
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
