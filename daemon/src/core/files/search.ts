/** Finds files by a glob on their path below a directory, or on their name at any depth. */
import type { FilesContext } from './context.ts';
import type { Glob, GlobState } from '../../kit/glob.ts';
import { readPathGlob } from './path-glob.ts';
import { placeOf } from './ordering.ts';
import { SkippedList, type SkippedSummary } from './skipped.ts';
import { Slices } from '../../kit/slices.ts';
import { FirstOf } from './slices.ts';
import { type Batch, walk } from './walk.ts';

export const searchKinds = ['file', 'directory', 'any'] as const;
export type SearchKind = (typeof searchKinds)[number];

export interface SearchRequest {
  readonly path: string;
  readonly user: string | null;
  readonly pattern: string;
  /** What is looked for; a link is what it points at. */
  readonly kind: SearchKind;
  readonly obeysGitignore: boolean;
}

export interface SearchResult extends SkippedSummary {
  readonly path: string;
  /** Absolute paths in the order of the tree, `maxFound` at most. */
  readonly files: readonly string[];
  /** Of all that match. */
  readonly totalCount: number;
}

interface Found {
  readonly path: string;
  readonly place: string;
}

export const maxFound = 10_000;
const comparePlaces = (a: Found, b: Found): number => (a.place < b.place ? -1 : a.place > b.place ? 1 : 0);

/** Throws the `FileFailure` of the directory or of the pattern. */
export async function search(
  { places }: FilesContext,
  request: SearchRequest,
  signal: AbortSignal,
): Promise<SearchResult> {
  const path = places.resolve(request.path, request.user);
  const glob = readPathGlob(request.pattern, path, { isAnyDepth: true, matchesHidden: false });
  const slices = new Slices();
  const skipped = new SkippedList();
  const first = new FirstOf<Found>(maxFound, comparePlaces, slices);
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
    slices,
    signal,
    onSkipped: (one) => skipped.add(one),
  });
  for await (const batch of batches) {
    for await (const found of matching(batch, glob, request.kind, slices)) {
      totalCount += 1;
      await first.add({ path: found, place: placeOf(found) });
    }
  }
  return { path, files: (await first.take()).map((found) => found.path), totalCount, ...skipped.summary() };
}

async function* matching(
  { entries, state }: Batch<GlobState>,
  glob: Glob,
  kind: SearchKind,
  slices: Slices,
): AsyncGenerator<string> {
  for (const { name, path, isDirectory } of entries) {
    if (slices.isOver) await slices.pause();
    if (kind !== 'any' && isDirectory !== (kind === 'directory')) continue;
    if (glob.step(state, name).isMatch) yield path;
  }
}
