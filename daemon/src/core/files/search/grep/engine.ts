/** Searches a tree in order, synchronously in a worker: the built-in engine of grep. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { decodePath, encodePath, systemPath } from '../../../../kit/path-text.ts';
import { decodeUtf8 } from '../../../../kit/text.ts';
import { join } from '../gitignore.ts';
import { placeOf } from '../../read/ordering.ts';
import { compilePattern } from './pattern.ts';
import { type GrepFound, type GrepMatch, type GrepQuery, PatternError, showLines, showMatch } from './query.ts';
import { type IgnoreState, Selection } from './selection.ts';

/**
 * After about half a second of work, the runtime gives up on a pattern with exponential backtracking and reports no
 * match. The time spent on each piece of text reveals this. A sound pattern takes a tenth of this limit.
 */
const maxWorkMs = 120;
const maxWorkMsForCharacter = 60e-6;
/** Longer texts are searched in pieces of whole lines. */
const pieceLength = 1024 * 1024;

/** The number of bytes in which ripgrep looks for a NUL byte when it searches a file as a whole. */
const binaryLookBytes = 64 * 1024;

/** Throws `PatternError`. Skips files and directories that cannot be read. */
export function grepTree(query: GrepQuery): GrepFound {
  const regex = compilePattern(query.pattern, query);
  const matches: GrepMatch[] = [];
  let filesSearched = 0;
  for (const path of filesOf(query)) {
    const bytes = readWhole(path, query.maxFileBytes);
    if (bytes === null) continue;
    filesSearched += 1;
    const text = textOf(bytes, query.isMultiline);
    if (text === null) continue;
    for (const match of searchText(path, text, regex, query, query.limit - matches.length)) matches.push(match);
    if (matches.length >= query.limit) return { matches, filesSearched: null };
  }
  return { matches, filesSearched };
}

/** Yields paths in tree order. */
function* filesOf(query: GrepQuery): Generator<string> {
  const selection = new Selection(query);
  if (query.fileName !== null) yield join(query.root, query.fileName);
  else yield* filesBelow(query.root, selection.start(), selection, query.isRecursive);
}

function* filesBelow(
  directory: string,
  above: IgnoreState,
  selection: Selection,
  isRecursive: boolean,
): Generator<string> {
  const state = selection.enter(above, directory);
  for (const { name, isDirectory } of namesIn(directory)) {
    const path = join(directory, name);
    if (!selection.takes(state, path, name, isDirectory)) continue;
    if (!isDirectory) yield path;
    else if (isRecursive) yield* filesBelow(path, state, selection, isRecursive);
  }
}

interface Named {
  readonly name: string;
  readonly isDirectory: boolean;
}

/** Returns files and directories, sorted. Links are not followed, and other types cannot be searched. */
function namesIn(directory: string): Named[] {
  try {
    const listed = readdirSync(systemPath(directory), { withFileTypes: true });
    const isExact = !listed.some(({ name }) => name.includes('\ufffd'));
    const named = isExact
      ? listed.flatMap((one) =>
          one.isFile() || one.isDirectory() ? { name: one.name, isDirectory: one.isDirectory() } : [],
        )
      : exactNames(directory);
    return named.sort((a, b) => (placeOf(a.name) < placeOf(b.name) ? -1 : 1));
  } catch {
    return []; // The directory is not readable or was deleted.
  }
}

/** For names that are not UTF-8, readdir returns no types, so each name needs an lstat call. */
function exactNames(directory: string): Named[] {
  return readdirSync(systemPath(directory), { encoding: 'buffer' }).flatMap((bytes) => {
    const name = decodePath(bytes);
    const status = lstatSync(systemPath(join(directory, name)), { throwIfNoEntry: false });
    return status?.isFile() || status?.isDirectory() ? [{ name, isDirectory: status.isDirectory() }] : [];
  });
}

/** Null for an entry that is not a regular file, is too large or cannot be read. */
function readWhole(path: string, maxBytes: number): Buffer | null {
  let descriptor: number;
  try {
    descriptor = openSync(systemPath(path), constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return null; // The file is not readable or was deleted.
  }
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile() || status.size > maxBytes) return null;
    return readUpTo(descriptor, status.size, maxBytes);
  } catch {
    return null; // The read failed, for example on a failing disk. Ripgrep skips such files too.
  } finally {
    closeSync(descriptor);
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

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Null for a binary file, which contains a NUL byte. Bytes that are not UTF-8 become lone surrogates. */
function textOf(bytes: Buffer, isMultiline: boolean): string | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return binaryFree(new TextDecoder('utf-16le').decode(bytes));
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return binaryFree(new TextDecoder('utf-16be').decode(bytes));
  if ((isMultiline ? bytes.subarray(0, binaryLookBytes) : bytes).includes(0)) return null;
  const content = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
  try {
    return utf8.decode(content);
  } catch {
    return decodeLines(content); // Some bytes are not UTF-8.
  }
}

function binaryFree(text: string): string | null {
  return text.includes('\0') ? null : text;
}

/** Decodes line by line, because only lines with invalid bytes are slow to decode. */
function decodeLines(bytes: Buffer): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(0x0a, at);
    const next = end === -1 ? bytes.length : end + 1;
    lines.push(decodePath(bytes.subarray(at, next)));
    at = next;
  }
  return lines.join('');
}

/** Positions in the text, from the start of the first line to the end of the last line, including its newline. */
interface Block {
  readonly from: number;
  to: number;
  /** Start of the first match in the block. */
  readonly at: number;
}

function searchText(path: string, text: string, regex: RegExp, query: GrepQuery, limit: number): GrepMatch[] {
  const blocks = findBlocks(path, text, regex, query.isMultiline, limit);
  let [line, counted] = [1, 0];
  return blocks.map(({ from, to, at }) => {
    for (let end = text.indexOf('\n', counted); end !== -1 && end < from; end = text.indexOf('\n', counted)) {
      line += 1;
      counted = end + 1;
    }
    return {
      path,
      lineNumber: line,
      content: showMatch(shown(text.slice(from, to)), shown(text.slice(from, at)).length, query),
      before: linesBefore(text, from, query.linesBefore),
      after: linesAfter(text, to, query.linesAfter),
    };
  });
}

/** Returns a block per matching line. Matches that share a line, and a match across lines, form one block. */
function findBlocks(path: string, text: string, regex: RegExp, isMultiline: boolean, limit: number): Block[] {
  if (isMultiline || text.length <= pieceLength) return blocksIn(path, text, regex, isMultiline, limit);
  const blocks: Block[] = [];
  for (let start = 0; start < text.length && blocks.length < limit;) {
    const end = lineEnd(text, Math.min(start + pieceLength, text.length) - 1);
    for (const { from, to, at } of blocksIn(path, text.slice(start, end), regex, false, limit - blocks.length)) {
      blocks.push({ from: from + start, to: to + start, at: at + start });
    }
    start = end;
  }
  return blocks;
}

function blocksIn(path: string, text: string, regex: RegExp, isMultiline: boolean, limit: number): Block[] {
  const blocks: Block[] = [];
  const workMs = workSince();
  const maxMs = maxWorkMs + text.length * maxWorkMsForCharacter;
  const startedMs = performance.now();
  regex.lastIndex = 0;
  for (;;) {
    const match = regex.exec(text);
    // The wall clock is checked first because it is cheap. The CPU time is checked too, because the wall clock also
    // advances while other threads run.
    if (performance.now() - startedMs > maxMs && workMs() > maxMs) {
      throw new PatternError(`the pattern takes too long, in ${path}`);
    }
    if (match === null || (match.index === text.length && (text === '' || text.endsWith('\n')))) return blocks;
    const end = match.index + match[0].length;
    const from = match.index === 0 ? 0 : text.lastIndexOf('\n', match.index - 1) + 1;
    const to = match[0].endsWith('\n') ? end : lineEnd(text, end);
    const last = blocks.at(-1);
    if (last && from < last.to) last.to = Math.max(last.to, to);
    else if (blocks.length === limit) return blocks;
    else blocks.push({ from, to, at: match.index });
    regex.lastIndex = isMultiline ? Math.max(end, match.index + 1) : to;
    if (regex.lastIndex >= text.length && (!isMultiline || match[0] === '')) return blocks;
  }
}

/** Returns a function that reports the CPU time of this thread since the call, in milliseconds. */
function workSince(): () => number {
  const before = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  };
}

/** Position after the newline, or the end of the text. */
function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 1;
}

function linesBefore(text: string, from: number, count: number): string[] {
  const lines: string[] = [];
  for (let end = from; end > 0 && lines.length < count;) {
    const start = end === 1 ? 0 : text.lastIndexOf('\n', end - 2) + 1;
    lines.unshift(showLines(shown(text.slice(start, end))));
    end = start;
  }
  return lines;
}

function linesAfter(text: string, to: number, count: number): string[] {
  const lines: string[] = [];
  for (let start = to; start < text.length && lines.length < count;) {
    const end = lineEnd(text, start);
    lines.push(showLines(shown(text.slice(start, end))));
    start = end;
  }
  return lines;
}

/** Formats text for clients: U+FFFD replaces bytes that are not UTF-8. */
function shown(text: string): string {
  return text.isWellFormed() ? text : decodeUtf8(encodePath(text));
}
