/** Finds the paths below a directory that match a glob, and describes each match. */
import type { Glob, GlobState } from '../../../kit/text/glob.ts';
import { TimeSlices } from '../../../kit/slices.ts';
import type { FileRequest, FilesContext } from '../context.ts';
import { type Candidate, describe, type ListedFile, ranked } from '../read/listed-file.ts';
import { comparePositions, type Order } from '../read/ordering.ts';
import { readPathGlob } from './path-glob.ts';
import { SkippedList, type SkippedSummary } from '../tree/skipped.ts';
import { TopItems } from '../slices.ts';
import { type Batch, type Entry, walk } from '../tree/walk.ts';

export interface GlobRequest extends FileRequest {
  /** `*.ts` matches files in the directory itself; `**` matches any number of directories. */
  readonly pattern: string;
  /** Excludes matches and everything below them. A glob without a `/` matches names at any depth. */
  readonly exclude: readonly string[];
  /** Wildcards match names that begin with a dot. */
  readonly matchesHidden: boolean;
  /** Excludes directories. */
  readonly filesOnly: boolean;
  readonly order: Order;
  readonly limit: number;
}

export interface GlobResult extends SkippedSummary {
  readonly path: string;
  /** The first `limit` matches in the requested order. */
  readonly files: readonly ListedFile[];
  /** Number of all matches. */
  readonly totalCount: number;
}

/** The state of each glob after the names so far. */
interface State {
  readonly wanted: GlobState;
  readonly excluded: readonly GlobState[];
}

/** Throws the `FileFailure` of the directory or of a glob, and `capacity_reached`. */
export async function glob(context: FilesContext, request: GlobRequest, signal: AbortSignal): Promise<GlobResult> {
  const { readDirectory, room } = context;
  const path = context.paths.resolve(request.path, request.user);
  const globs = new Globs(request, path);
  const slices = new TimeSlices();
  const skipped = new SkippedList();
  using first = new TopItems<Candidate>(request.limit, comparePositions(request.order), slices, { room, signal });
  let totalCount = 0;
  const batches = walk<State>({
    operation: 'search',
    root: path,
    start: globs.start,
    enter: ({ name }, _depth, above) => globs.enter(above, name),
    sees: () => true,
    obeysGitignore: false,
    readDirectory,
    slices,
    signal,
    skipped,
  });
  for await (const batch of batches) {
    const matches = await globs.matchesIn(batch, request.filesOnly, slices);
    skipped.hiddenCount += globs.hiddenIn(batch);
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

  /** null when nothing below can match. */
  enter({ wanted, excluded }: State, name: string): State | null {
    const { next } = this.#wanted.step(wanted, name);
    const steps = this.#excluded.map((one, i) => one.step(excluded[i] ?? [], name));
    if (next.length === 0 || steps.some(({ isMatch }) => isMatch)) return null;
    return { wanted: next, excluded: steps.map((step) => step.next) };
  }

  async matchesIn({ entries, state }: Batch<State>, filesOnly: boolean, slices: TimeSlices): Promise<Entry[]> {
    const matches: Entry[] = [];
    for (const entry of entries) {
      if (slices.isOver) await slices.pause();
      if (!(filesOnly && entry.isDirectory) && this.#takes(state, entry.name)) matches.push(entry);
    }
    return matches;
  }

  hiddenIn({ entries, state }: Batch<State>): number {
    return entries.filter(({ name, isDirectory }) => this.#wanted.hides(state.wanted, name, isDirectory)).length;
  }

  #takes({ wanted, excluded }: State, name: string): boolean {
    if (!this.#wanted.step(wanted, name).isMatch) return false;
    return !this.#excluded.some((one, i) => one.step(excluded[i] ?? [], name).isMatch);
  }
}
