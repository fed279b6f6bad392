/** Walks a directory tree, several directories in parallel. Reports the target type of a link but never follows it. */
import { promises as fs } from 'node:fs';
import { errnoOf } from '../../../kit/errno.ts';
import { type FileOperation, fileFailureOf } from '../../../kit/file-failure.ts';
import { systemPath } from '../../../kit/text/path-text.ts';
import { chainVerdict, hasRepository, type IgnoreChain, join, lineageOf, withIgnoreFile } from '../search/gitignore.ts';
import type { TimeSlices } from '../../../kit/slices.ts';
import type { DirectoryEntry, readDirectory } from '../../../platform/files/read-directory.ts';
import { mapBounded } from '../slices.ts';
import type { SkippedList } from './skipped.ts';

export interface Entry {
  readonly name: string;
  readonly path: string;
  /** Also true for a link to a directory. */
  readonly isDirectory: boolean;
  readonly isLink: boolean;
}

export interface WalkOptions<State> {
  readonly readDirectory: typeof readDirectory;
  readonly operation: FileOperation;
  readonly root: string;
  /** The state of the root, in place of a result of `enter`. */
  readonly start: State;
  /** Returns the state for a directory that the walk enters, or null to skip the directory. */
  readonly enter: (entry: Entry, depth: number, parent: State) => State | null;
  /** Returns false to skip an entry and everything below it. */
  readonly sees: (name: string) => boolean;
  /** Obeys .gitignore files, including those above the root, up to the top of its repository. */
  readonly obeysGitignore: boolean;
  readonly slices: TimeSlices;
  readonly signal: AbortSignal;
  /** Takes what the walk leaves out. */
  readonly skipped: SkippedList;
}

export interface Batch<State> {
  readonly entries: readonly Entry[];
  readonly state: State;
}

interface Directory<State> {
  readonly path: string;
  readonly depth: number;
  readonly state: State;
  readonly ignores: IgnoreChain | null;
}

/** A part of a directory, with those of its entries that the walk enters. */
interface Piece<State> extends Batch<State> {
  readonly directories: readonly Directory<State>[];
}

const readAtOnce = 8;
const statAtOnce = 16;

/** Yields parts of directories, in no order. Throws the `FileFailure` of the root; ends when the signal aborts. */
export async function* walk<State>(options: WalkOptions<State>): AsyncGenerator<Batch<State>> {
  const { root, start, signal } = options;
  const ignores = options.obeysGitignore ? gitignoresAbove(root) : null;
  const waiting: Directory<State>[] = [{ path: root, depth: 0, state: start, ignores }];
  const reading: ReturnType<typeof begin<State>>[] = [];
  try {
    while (waiting.length + reading.length > 0) {
      while (waiting.length > 0 && reading.length < readAtOnce) reading.push(begin(waiting.pop()!, options));
      const { first, pieces } = reading[0]!;
      for (let next = await first; next.done !== true; next = await pieces.next()) {
        if (signal.aborted) return;
        yield { entries: next.value.entries, state: next.value.state };
        for (const directory of next.value.directories) waiting.push(directory);
      }
      reading.shift();
    }
  } finally {
    await Promise.allSettled(reading.flatMap(({ first, pieces }) => [first, pieces.return(null)]));
  }
}

/** Reads the first piece ahead, which of most directories is the only one. */
function begin<State>(directory: Directory<State>, options: WalkOptions<State>) {
  const pieces = piecesOf(directory, options);
  return { pieces, first: pieces.next() };
}

/** Yields nothing for a directory that cannot be read. If the root cannot be read, the walk fails. */
async function* piecesOf<State>(
  directory: Directory<State>,
  options: WalkOptions<State>,
): AsyncGenerator<Piece<State>, null> {
  const { path, depth } = directory;
  try {
    let { ignores } = directory;
    const pieces = await options.readDirectory(path);
    const mayIgnore = Symbol.asyncIterator in pieces || pieces[0].some(({ name }) => name === '.gitignore');
    if (options.obeysGitignore && mayIgnore) ignores = withIgnoreFile(ignores, path);
    for await (const names of pieces) yield await pieceOf(names, { ...directory, ignores }, options);
  } catch (error) {
    const errnoName = errnoOf(error);
    if (depth === 0 || errnoName === null) throw fileFailureOf(error, options.operation, path);
    if (errnoName !== 'ENOENT') options.skipped.add({ path, errnoName }); // A directory deleted meanwhile is not reported.
  }
  return null;
}

async function pieceOf<State>(
  names: readonly DirectoryEntry[],
  { path: above, depth, state, ignores }: Directory<State>,
  options: WalkOptions<State>,
): Promise<Piece<State>> {
  const { slices, skipped, signal } = options;
  const found = names.filter(({ name }) => options.sees(name));
  skipped.hiddenCount += names.length - found.length;
  const entries: Entry[] = [];
  const directories: Directory<State>[] = [];
  const looks = await lookAtUnclear(above, found, options);
  for (const { name, kind } of found) {
    if (slices.isOver) await slices.pause();
    if (signal.aborted) break;
    const path = join(above, name);
    const { isDirectory = kind === 'directory', isLink = false } = looks.get(name) ?? {};
    const one = { name, path, isDirectory, isLink };
    if (options.obeysGitignore && (name === '.git' || chainVerdict(ignores, path, isTree(one)))) {
      skipped.ignoredCount += 1;
      continue;
    }
    entries.push(one);
    const inner = isDirectory ? options.enter(one, depth + 1, state) : null;
    if (inner !== null && isLink) skipped.linkCount += 1;
    else if (inner !== null) directories.push({ path, depth: depth + 1, state: inner, ignores });
  }
  return { entries, directories, state };
}

/** True for a directory. A link to a directory is a leaf. */
function isTree({ isDirectory, isLink }: Entry): boolean {
  return isDirectory && !isLink;
}

type Look = Pick<Entry, 'isDirectory' | 'isLink'>;

/** Results by name. Calls stat only for entries whose kind the file system does not report. */
async function lookAtUnclear<State>(
  above: string,
  found: readonly DirectoryEntry[],
  { slices, signal }: WalkOptions<State>,
): Promise<ReadonlyMap<string, Look>> {
  const unclear = found.filter(({ kind }) => kind === 'link' || kind === 'unknown');
  const looks = new Map<string, Look>();
  await mapBounded(unclear, statAtOnce, async ({ name, kind }) => {
    if (slices.isOver) await slices.pause();
    if (!signal.aborted) looks.set(name, await look(join(above, name), kind));
  });
  return looks;
}

async function look(path: string, kind: DirectoryEntry['kind']): Promise<Look> {
  const isLink = kind === 'link' || (await fs.lstat(systemPath(path)).catch(() => null))?.isSymbolicLink() === true;
  // The target of a link may be missing or unreachable. Such a link is not a directory.
  const target = await fs.stat(systemPath(path)).catch(() => null);
  return { isDirectory: target?.isDirectory() === true, isLink };
}

/** Reads .gitignore files above the root, up to the top of its repository; none outside a repository. */
function gitignoresAbove(root: string): IgnoreChain | null {
  const above = lineageOf(root).slice(0, -1);
  const top = [...above, root].findLastIndex((directory) => hasRepository(directory));
  if (top === -1) return null;
  return above.slice(top).reduce<IgnoreChain | null>((chain, directory) => withIgnoreFile(chain, directory), null);
}
