/** Finds what a glob on the path below a directory names, in any order, with what is known of each file. */
import type { Glob, GlobState } from '../../kit/glob.ts';
import { Slices } from '../../kit/slices.ts';
import type { FilesContext } from './context.ts';
import { type Candidate, describe, type ListedFile, ranked } from './listed-file.ts';
import { comparePositions, type Order } from './ordering.ts';
import { readPathGlob } from './path-glob.ts';
import { SkippedList, type SkippedSummary } from './skipped.ts';
import { FirstOf } from './slices.ts';
import { type Batch, type Entry, walk } from './walk.ts';

export interface GlobRequest {
  readonly path: string;
  readonly user: string | null;
  /** `*.ts` names files of the directory itself, `**` whole paths. */
  readonly pattern: string;
  /** What one of these names is left out, with all that is below it. Without a `/` a glob is on names at any depth. */
  readonly exclude: readonly string[];
  /** Wildcards match names that begin with a dot. */
  readonly matchesHidden: boolean;
  /** Directories are left out. */
  readonly filesOnly: boolean;
  readonly order: Order;
  readonly limit: number;
}

export interface GlobResult extends SkippedSummary {
  readonly path: string;
  /** In order, the first `limit`. */
  readonly files: readonly ListedFile[];
  /** Of all that match. */
  readonly totalCount: number;
}

/** How far the names on the way have come in each glob. */
interface State {
  readonly wanted: GlobState;
  readonly excluded: readonly GlobState[];
}

/** Throws the `FileFailure` of the directory or of a glob. */
export async function glob({ places }: FilesContext, request: GlobRequest, signal: AbortSignal): Promise<GlobResult> {
  const path = places.resolve(request.path, request.user);
  const globs = new Globs(request, path);
  const slices = new Slices();
  const skipped = new SkippedList();
  const first = new FirstOf<Candidate>(request.limit, comparePositions(request.order), slices);
  let totalCount = 0;
  const batches = walk<State>({
    operation: 'search',
    root: path,
    start: globs.start,
    enter: ({ name }, _depth, above) => globs.enter(above, name),
    sees: () => true,
    obeysGitignore: false,
    slices,
    signal,
    onSkipped: (one) => skipped.add(one),
  });
  for await (const batch of batches) {
    const matches = await globs.matchesIn(batch, request.filesOnly, slices);
    totalCount += matches.length;
    for (const candidate of await ranked(matches, request.order)) await first.add(candidate);
  }
  return { path, files: await describe(await first.take()), totalCount, ...skipped.summary() };
}

class Globs {
  readonly #wanted: Glob;
  readonly #excluded: readonly Glob[];
  readonly start: State;

  constructor({ pattern, exclude, matchesHidden }: GlobRequest, path: string) {
    this.#wanted = readPathGlob(pattern, path, { isAnyDepth: false, matchesHidden });
    this.#excluded = exclude.map((one) =>
      readPathGlob(one.replace(/(?<=.)\/+$/, ''), path, { isAnyDepth: true, matchesHidden: true }),
    );
    this.start = { wanted: this.#wanted.start, excluded: this.#excluded.map(({ start }) => start) };
  }

  /** null where nothing below can match. */
  enter({ wanted, excluded }: State, name: string): State | null {
    const { next } = this.#wanted.step(wanted, name);
    const steps = this.#excluded.map((one, i) => one.step(excluded[i] ?? [], name));
    if (next.length === 0 || steps.some(({ isMatch }) => isMatch)) return null;
    return { wanted: next, excluded: steps.map((step) => step.next) };
  }

  async matchesIn({ entries, state }: Batch<State>, filesOnly: boolean, slices: Slices): Promise<Entry[]> {
    const matches: Entry[] = [];
    for (const entry of entries) {
      if (slices.isOver) await slices.pause();
      if (!(filesOnly && entry.isDirectory) && this.#takes(state, entry.name)) matches.push(entry);
    }
    return matches;
  }

  #takes({ wanted, excluded }: State, name: string): boolean {
    if (!this.#wanted.step(wanted, name).isMatch) return false;
    return !this.#excluded.some((one, i) => one.step(excluded[i] ?? [], name).isMatch);
  }
}
