/** Finds files by a glob on their path below a directory, or on their name at any depth. */
import type { FilesContext } from '../context.ts';
import type { Glob, GlobState } from '../../../kit/text/glob.ts';
import { readPathGlob } from './path-glob.ts';
import { treeKeyOf } from '../read/ordering.ts';
import { SkippedList, type SkippedSummary } from '../tree/skipped.ts';
import { TimeSlices } from '../../../kit/slices.ts';
import { TopItems } from '../slices.ts';
import { type Batch, walk } from '../tree/walk.ts';

export const searchKinds = ['file', 'directory', 'any'] as const;
export type SearchKind = (typeof searchKinds)[number];

export interface SearchRequest {
  readonly path: string;
  readonly user: string | null;
  readonly pattern: string;
  /** A pattern without a `/` matches names at any depth. Otherwise it matches only entries of `path` itself. */
  readonly isAnyDepth: boolean;
  /** The kind of entry to find. A link counts as the kind of its target. */
  readonly kind: SearchKind;
  readonly obeysGitignore: boolean;
}

export interface SearchResult extends SkippedSummary {
  readonly path: string;
  /** Absolute paths in tree order, at most `maxFound`. */
  readonly files: readonly string[];
  /** Number of all matches. */
  readonly totalCount: number;
}

interface Found {
  readonly path: string;
  readonly treeKey: string;
}

export const maxFound = 10_000;
const compareTreeKeys = (a: Found, b: Found): number => (a.treeKey < b.treeKey ? -1 : a.treeKey > b.treeKey ? 1 : 0);

/** Throws the `FileFailure` of the directory or of the pattern, and `capacity_reached`. */
export async function search(
  { paths, readDirectory, room }: FilesContext,
  request: SearchRequest,
  signal: AbortSignal,
): Promise<SearchResult> {
  const path = paths.resolve(request.path, request.user);
  const glob = readPathGlob(request.pattern, path, { isAnyDepth: request.isAnyDepth, matchesHidden: false });
  const slices = new TimeSlices();
  const skipped = new SkippedList();
  using first = new TopItems<Found>(maxFound, compareTreeKeys, slices, { room, signal });
  let totalCount = 0;
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
      await first.add({ path: found, treeKey: treeKeyOf(found) });
    }
  }
  return { path, files: (await first.take()).map((found) => found.path), totalCount, ...skipped.summary() };
}

async function* matching(
  { entries, state }: Batch<GlobState>,
  glob: Glob,
  kind: SearchKind,
  slices: TimeSlices,
  skipped: SkippedList,
): AsyncGenerator<string> {
  for (const { name, path, isDirectory } of entries) {
    if (slices.isOver) await slices.pause();
    if (glob.hides(state, name, isDirectory)) skipped.hiddenCount += 1;
    if (kind !== 'any' && isDirectory !== (kind === 'directory')) continue;
    if (glob.step(state, name).isMatch) yield path;
  }
}
