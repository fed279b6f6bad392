/** Walks a directory tree, several directories in parallel. Reports the target type of a link but never follows it. */
import { promises as fs, type Dirent } from 'node:fs';
import { errnoOf, type FileOperation, fileFailureOf } from '../../../kit/file-failure.ts';
import { decodePath, systemPath } from '../../../kit/text/path-text.ts';
import { chainVerdict, hasRepository, type IgnoreChain, join, lineageOf, withIgnoreFile } from '../search/gitignore.ts';
import type { TimeSlices } from '../../../kit/slices.ts';
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

const readAtOnce = 8;
const statAtOnce = 16;

/** Yields one directory at a time, in no order. Throws the `FileFailure` of the root; ends when the signal aborts. */
export async function* walk<State>(options: WalkOptions<State>): AsyncGenerator<Batch<State>> {
  const { root, start, signal } = options;
  const ignores = options.obeysGitignore ? gitignoresAbove(root) : null;
  const waiting: Directory<State>[] = [{ path: root, depth: 0, state: start, ignores }];
  const reading: ReturnType<typeof readDirectory<State>>[] = [];
  while (waiting.length + reading.length > 0) {
    while (waiting.length > 0 && reading.length < readAtOnce) reading.push(readDirectory(waiting.pop()!, options));
    const { entries, directories, state } = await reading.shift()!;
    if (signal.aborted) {
      await Promise.allSettled(reading);
      return;
    }
    yield { entries, state };
    for (const directory of directories) waiting.push(directory);
  }
}

async function readDirectory<State>(
  directory: Directory<State>,
  options: WalkOptions<State>,
): Promise<Batch<State> & { readonly directories: readonly Directory<State>[] }> {
  const { path, depth, state } = directory;
  const { slices } = options;
  const nothing = { entries: [], directories: [], state };
  const all = await namesIn(directory, options);
  if (all === null) return nothing;
  const found = all.filter(({ name }) => options.sees(name));
  options.skipped.hiddenCount += all.length - found.length;
  const isThere = options.obeysGitignore && all.some(({ name }) => name === '.gitignore');
  const ignores = isThere ? withIgnoreFile(directory.ignores, path, '.gitignore', 'git') : directory.ignores;
  const entries: Entry[] = [];
  const directories: Directory<State>[] = [];
  const looks = await lookAtUnclear(found, options);
  for (const { name, path, kind } of found) {
    if (slices.isOver) await slices.pause();
    if (options.signal.aborted) return nothing;
    const { isDirectory = kind === 'directory', isLink = false } = looks.get(name) ?? {};
    const one = { name, path, isDirectory, isLink };
    if (options.obeysGitignore && (one.name === '.git' || chainVerdict(ignores, one.path, isTree(one)))) {
      options.skipped.ignoredCount += 1;
      continue;
    }
    entries.push(one);
    const inner = isDirectory ? options.enter(one, depth + 1, state) : null;
    if (inner !== null && isLink) options.skipped.linkCount += 1;
    else if (inner !== null) directories.push({ path: one.path, depth: depth + 1, state: inner, ignores });
  }
  return { entries, directories, state };
}

/** True for a directory. A link to a directory is a leaf. */
function isTree({ isDirectory, isLink }: Entry): boolean {
  return isDirectory && !isLink;
}

interface Found {
  readonly name: string;
  readonly path: string;
  readonly kind: 'directory' | 'link' | 'unknown' | 'other';
}

/** Null for a directory that cannot be read. If the root cannot be read, the walk fails. */
async function namesIn<State>(
  { path, depth }: Directory<State>,
  { operation, slices, skipped }: WalkOptions<State>,
): Promise<Found[] | null> {
  try {
    const found: Found[] = [];
    const listed = await fs.readdir(systemPath(path), { withFileTypes: true });
    const names = listed.some(({ name }) => name.includes('\ufffd')) ? await exactNames(path) : null;
    for (const [index, one] of (names ?? listed).entries()) {
      if (index % 256 === 0 && slices.isOver) await slices.pause();
      const name = typeof one === 'string' ? one : one.name;
      found.push({ name, path: join(path, name), kind: typeof one === 'string' ? 'unknown' : kindOf(one) });
    }
    return found;
  } catch (error) {
    const errnoName = errnoOf(error);
    if (depth === 0 || errnoName === null) throw fileFailureOf(error, operation, path);
    if (errnoName !== 'ENOENT') skipped.add({ path, errnoName }); // A directory deleted meanwhile is not reported.
    return null;
  }
}

/** A name that is not UTF-8 can only be read as bytes, and readdir returns bytes without file types. */
async function exactNames(path: string): Promise<string[]> {
  return (await fs.readdir(systemPath(path), { encoding: 'buffer' })).map(decodePath);
}

function kindOf(entry: Dirent): Found['kind'] {
  if (entry.isDirectory()) return 'directory';
  if (entry.isSymbolicLink()) return 'link';
  return entry.isFile() || entry.isFIFO() || entry.isSocket() || entry.isCharacterDevice() || entry.isBlockDevice()
    ? 'other'
    : 'unknown';
}

interface Look {
  readonly isDirectory: boolean;
  readonly isLink: boolean;
}

/** Results by name. Calls stat only for entries whose type readdir does not report. */
async function lookAtUnclear<State>(
  found: readonly Found[],
  { slices, signal }: WalkOptions<State>,
): Promise<ReadonlyMap<string, Look>> {
  const unclear = found.filter(({ kind }) => kind === 'link' || kind === 'unknown');
  const looks = new Map<string, Look>();
  await mapBounded(unclear, statAtOnce, async (one) => {
    if (slices.isOver) await slices.pause();
    if (!signal.aborted) looks.set(one.name, await look(one));
  });
  return looks;
}

async function look({ path, kind }: Found): Promise<Look> {
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
  return above
    .slice(top)
    .reduce<IgnoreChain | null>((chain, directory) => withIgnoreFile(chain, directory, '.gitignore', 'git'), null);
}
