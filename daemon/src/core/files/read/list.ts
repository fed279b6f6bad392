/** Lists a directory or a whole tree, one page at a time. */
import type { FileRequest, FilesContext } from '../context.ts';
import { type Candidate, describe, isOfExtension, type ListedFile, ranked } from './listed-file.ts';
import { comparePositions, decodeCursor, encodeCursor, type Order } from './ordering.ts';
import { SkippedList, type SkippedSummary } from '../tree/skipped.ts';
import { TimeSlices } from '../../../kit/slices.ts';
import { TopItems } from '../slices.ts';
import { type Batch, walk, type WalkOptions } from '../tree/walk.ts';

export interface ListRequest extends FileRequest {
  readonly isRecursive: boolean;
  /** 1 lists only the directory itself; null means no limit. */
  readonly maxDepth: number | null;
  readonly showsHidden: boolean;
  readonly obeysGitignore: boolean;
  /** Extensions of the listed files, each with its dot; null lists all files. Directories are always listed. */
  readonly extensions: readonly string[] | null;
  readonly order: Order;
  /** Cursor from the previous page; null starts at the beginning. */
  readonly cursor: string | null;
  /** Maximum number of entries in the page. */
  readonly limit: number;
}

export interface Listing extends SkippedSummary {
  readonly path: string;
  /** The entries of the page, in order. */
  readonly files: readonly ListedFile[];
  /** Counts for the whole listing, not for the page. */
  readonly fileCount: number;
  readonly directoryCount: number;
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** The maximum number of entries in one page. */
export const maxPage = 10_000;

/** Throws the `FileFailure` of the directory, `bad_argument` and `capacity_reached`. */
export async function list(context: FilesContext, request: ListRequest, signal: AbortSignal): Promise<Listing> {
  const path = context.paths.resolve(request.path, request.user);
  const { order } = request;
  const slices = new TimeSlices();
  const skipped = new SkippedList();
  const compare = comparePositions(order);
  const after = request.cursor === null ? null : decodeCursor(request.cursor, order);
  using page = new TopItems<Candidate>(request.limit, compare, slices, { room: context.room, signal });
  let [fileCount, directoryCount, candidates] = [0, 0, 0];
  for await (const { entries } of visible(path, { ...context, ...request, slices, skipped, signal })) {
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

function visible(
  root: string,
  options: ListRequest & Pick<WalkOptions<true>, 'readDirectory' | 'slices' | 'skipped' | 'signal'>,
): AsyncGenerator<Batch<true>> {
  const deepest = options.isRecursive ? (options.maxDepth ?? Infinity) : 1;
  return walk<true>({
    ...options,
    operation: 'list',
    root,
    start: true,
    enter: (_entry, depth) => (depth < deepest ? true : null),
    sees: (name) => options.showsHidden || !name.startsWith('.'),
  });
}
