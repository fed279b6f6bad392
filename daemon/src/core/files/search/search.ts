/** Finds files by a glob on their path below a directory, or on their name at any depth. */
import { promises as fs } from 'node:fs';
import type { FileRequest, FilesContext } from '../context.ts';
import type { Glob, GlobState } from '../../../kit/text/glob.ts';
import { readPathGlob } from './path-glob.ts';
import { comparePositions, decodeCursor, encodeCursor, type Position, treeKeyOf } from '../read/ordering.ts';
import { SkippedList, type SkippedSummary } from '../tree/skipped.ts';
import { TimeSlices } from '../../../kit/slices.ts';
import { systemPath } from '../../../kit/text/path-text.ts';
import { mapBounded, TopItems } from '../slices.ts';
import { type Batch, walk } from '../tree/walk.ts';

export const searchKinds = ['file', 'directory', 'any'] as const;
export type SearchKind = (typeof searchKinds)[number];

export interface SearchRequest extends FileRequest {
  readonly pattern: string;
  /** A pattern without a `/` matches names at any depth. Otherwise it matches only entries of `path` itself. */
  readonly isAnyDepth: boolean;
  /** The kind of entry to find. A link counts as the kind of its target. */
  readonly kind: SearchKind;
  readonly obeysGitignore: boolean;
  /** Cursor from the previous page; null starts at the beginning. */
  readonly cursor: string | null;
  /** Maximum number of matches in the page. */
  readonly limit: number;
}

export interface SearchResult extends SkippedSummary {
  readonly path: string;
  /** The matches of the page in tree order. */
  readonly files: readonly Found[];
  /** Number of all matches, not only of the page. */
  readonly totalCount: number;
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

export interface Found extends Position {
  readonly path: string;
  readonly isDirectory: boolean;
  readonly isLink: boolean;
}

export const maxFound = 10_000;
const order = { by: 'path', direction: 'asc' } as const;
const comparePaths = comparePositions(order);

/** Throws the `FileFailure` of the directory or of the pattern, and `capacity_reached`. */
export async function search(
  { paths, readDirectory, room }: FilesContext,
  request: SearchRequest,
  signal: AbortSignal,
): Promise<SearchResult> {
  const path = paths.resolve(request.path, request.user);
  const glob = readPathGlob(request.pattern, path, {
    isAnyDepth: request.isAnyDepth,
    canAnchor: request.isAnyDepth,
    matchesHidden: false,
  });
  const slices = new TimeSlices();
  const skipped = new SkippedList();
  const after = request.cursor === null ? null : decodeCursor(request.cursor, order);
  using page = new TopItems<Found>(request.limit, comparePaths, slices, { room, signal });
  let [totalCount, candidates] = [0, 0];
  const batches = walk<GlobState>({
    operation: 'search',
    root: path,
    start: glob.start,
    enter(entry, _depth, parent) {
      const { next } = glob.step(parent, entry.name);
      return next.length === 0 ? null : next;
    },
    sees: () => true,
    obeysGitignore: request.obeysGitignore,
    readDirectory,
    slices,
    signal,
    skipped,
  });
  for await (const batch of batches) {
    for await (const found of matching(batch, glob, request.kind, slices, skipped)) {
      totalCount += 1;
      if (after !== null && comparePaths(found, after) <= 0) continue;
      candidates += 1;
      await page.add(found);
    }
  }
  const files = await page.take();
  const last = files.at(-1);
  const nextCursor = last && candidates > files.length ? encodeCursor(order, last) : null;
  return { path, files, totalCount, nextCursor, ...skipped.summary() };
}

async function* matching(
  { entries, state }: Batch<GlobState>,
  glob: Glob,
  kind: SearchKind,
  slices: TimeSlices,
  skipped: SkippedList,
): AsyncGenerator<Found> {
  for (const { name, path, isDirectory, isLink } of entries) {
    if (slices.isOver) await slices.pause();
    if (glob.hides(state, name, isDirectory)) skipped.hiddenCount += 1;
    if (kind !== 'any' && isDirectory !== (kind === 'directory')) continue;
    if (glob.step(state, name).isMatch) yield { path, isDirectory, isLink, rank: 0, treeKey: treeKeyOf(path) };
  }
}

export const foundTypes = ['file', 'directory', 'symlink', 'other'] as const;
type FoundType = (typeof foundTypes)[number];

const statAtOnce = 16;

/** The type of each match itself; a link is not followed. A match that is deleted meanwhile is `other`. */
export function typesOf(found: readonly Found[]): Promise<FoundType[]> {
  return mapBounded(found, statAtOnce, async ({ path, isDirectory, isLink }) => {
    if (isLink) return 'symlink';
    if (isDirectory) return 'directory';
    const stat = await fs.lstat(systemPath(path)).catch(() => null);
    return stat?.isFile() ? 'file' : 'other';
  });
}
