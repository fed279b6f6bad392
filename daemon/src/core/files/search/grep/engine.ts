/** Searches a tree in order, synchronously in a worker: the built-in engine of grep. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { errnoOf } from '../../../../kit/errno.ts';
import { decodePath, systemPath } from '../../../../kit/text/path-text.ts';
import { placeOf } from '../../read/ordering.ts';
import { encodingOf } from '../../read/text-encoding.ts';
import { SkippedList } from '../../tree/skipped.ts';
import { join } from '../gitignore.ts';
import { decodeText, textPieces, type TextPiece } from './file-text.ts';
import { compilePattern } from './pattern.ts';
import { type GrepFound, type GrepMatch, type GrepQuery } from './query.ts';
import { FileSearch } from './search-file.ts';
import { type IgnoreState, Selection } from './selection.ts';

/** The number of bytes in which ripgrep looks for a NUL byte when it searches a file as a whole. */
const binaryLookBytes = 64 * 1024;

/** Throws `PatternError`. Collects the files and directories that could not be searched. */
export function grepTree(query: GrepQuery): GrepFound {
  const regex = compilePattern(query.pattern, query);
  const skipped = new SkippedList();
  const matches: GrepMatch[] = [];
  let [filesSearched, length] = [0, 0];
  for (const path of filesOf(query, skipped)) {
    const search = new FileSearch(path, regex, query, { count: matches.length, length });
    if (!readInto(search, path, query, skipped)) continue;
    filesSearched += 1;
    if (search.isBinaryMatch) skipped.add({ path, errnoName: 'EILSEQ' });
    for (const match of search.matches) matches.push(match);
    const { isCut } = search;
    length = search.length;
    if (isCut || matches.length >= query.limit) return { matches, filesSearched: null, isCut, ...notCounted };
  }
  return { matches, filesSearched, isCut: false, ...skipped.summary() };
}

/** The rest of the tree was not looked at. */
const notCounted = { skipped: [], skippedCount: null };

/** Yields paths in tree order. */
function* filesOf(query: GrepQuery, skipped: SkippedList): Generator<string> {
  const selection = new Selection(query);
  if (query.fileName !== null) yield join(query.root, query.fileName);
  else yield* filesBelow(query.root, selection.start(), { selection, isRecursive: query.isRecursive, skipped });
}

interface TreeSearch {
  readonly selection: Selection;
  readonly isRecursive: boolean;
  readonly skipped: SkippedList;
}

function* filesBelow(directory: string, above: IgnoreState, tree: TreeSearch): Generator<string> {
  const { selection, isRecursive, skipped } = tree;
  const state = selection.enter(above, directory);
  for (const { name, isDirectory } of namesIn(directory, skipped)) {
    const path = join(directory, name);
    if (!selection.takes(state, path, name, isDirectory)) continue;
    if (!isDirectory) yield path;
    else if (isRecursive) yield* filesBelow(path, state, tree);
  }
}

interface Named {
  readonly name: string;
  readonly isDirectory: boolean;
}

/** Returns files and directories, sorted. Links are not followed, and other types cannot be searched. */
function namesIn(directory: string, skipped: SkippedList): Named[] {
  try {
    const listed = readdirSync(systemPath(directory), { withFileTypes: true });
    const isExact = !listed.some(({ name }) => name.includes('\ufffd'));
    const named = isExact
      ? listed.flatMap((one) =>
          one.isFile() || one.isDirectory() ? { name: one.name, isDirectory: one.isDirectory() } : [],
        )
      : exactNames(directory);
    return named.sort((a, b) => (placeOf(a.name) < placeOf(b.name) ? -1 : 1));
  } catch (error) {
    note(error, directory, skipped);
    return [];
  }
}

/** Rethrows an error that is not of the system. An entry that was deleted meanwhile is not skipped. */
function note(error: unknown, path: string, skipped: SkippedList): void {
  const errnoName = errnoOf(error);
  if (errnoName === null) throw error;
  if (errnoName !== 'ENOENT') skipped.add({ path, errnoName });
}

/** For names that are not UTF-8, readdir returns no types, so each name needs an lstat call. */
function exactNames(directory: string): Named[] {
  return readdirSync(systemPath(directory), { encoding: 'buffer' }).flatMap((bytes) => {
    const name = decodePath(bytes);
    const status = lstatSync(systemPath(join(directory, name)), { throwIfNoEntry: false });
    return status?.isFile() || status?.isDirectory() ? [{ name, isDirectory: status.isDirectory() }] : [];
  });
}

/** Returns false for an entry that is not a regular file, is too large or cannot be read. */
function readInto(search: FileSearch, path: string, query: GrepQuery, skipped: SkippedList): boolean {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(systemPath(path), constants.O_RDONLY | constants.O_NONBLOCK);
    const status = fstatSync(descriptor);
    if (!status.isFile()) return false;
    const maxBytes = query.maxFileBytes ?? Infinity;
    if (status.size > maxBytes) {
      skipped.add({ path, errnoName: 'EFBIG' });
      return false;
    }
    const pieces = query.isMultiline
      ? [wholeText(readUpTo(descriptor, status.size, maxBytes))]
      : textPieces(descriptor, status.size);
    for (const piece of pieces) if (!search.add(piece)) break;
    return true;
  } catch (error) {
    note(error, path, skipped);
    return false;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

/** Reads until the end of the file, because procfs and sysfs files report a size of 0 and other files may grow. */
function readUpTo(descriptor: number, size: number, maxBytes: number): Buffer {
  const parts: Buffer[] = [];
  let total = 0;
  for (let room = size + 1; total <= maxBytes; room = 64 * 1024) {
    const part = Buffer.allocUnsafe(room);
    const count = readSync(descriptor, part, 0, room, null);
    if (count === 0) break;
    parts.push(part.subarray(0, count));
    total += count;
  }
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
}

function wholeText(bytes: Buffer): TextPiece {
  const encoding = encodingOf(bytes);
  const common = { startsLine: true, endsLine: true };
  if (encoding !== 'utf-8') {
    const text = new TextDecoder(encoding).decode(bytes);
    return { ...common, text, hasNul: text.includes('\0') };
  }
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const hasNul = bytes.subarray(0, binaryLookBytes).includes(0);
  return { ...common, text: decodeText(hasMark ? bytes.subarray(3) : bytes), hasNul };
}
