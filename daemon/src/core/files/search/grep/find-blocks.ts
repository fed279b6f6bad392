/** Finds the lines of a text that match a pattern, and gives up on a pattern that takes too long. */
import { PatternError } from './query.ts';

/** Positions in the text, from the start of the first line to the end of the last line, including its newline. */
export interface Block {
  readonly from: number;
  to: number;
  /** Start of the first match in the block. */
  readonly at: number;
}

/**
 * After about half a second of work, the runtime gives up on a pattern with exponential backtracking and reports no
 * match. The time spent on each piece of text reveals this. A sound pattern takes a tenth of this limit.
 */
const maxWorkMs = 120;
const maxWorkMsForCharacter = 60e-6;
/** Longer texts are searched in pieces of whole lines. */
const pieceLength = 1024 * 1024;

interface Searched {
  /** For the message about a slow pattern. */
  readonly path: string;
  readonly regex: RegExp;
  readonly isMultiline: boolean;
  /** Maximum number of blocks. */
  readonly limit: number;
}

/** Returns a block per matching line. Matches that share a line, and a match across lines, form one block. */
export function findBlocks(text: string, searched: Searched): Block[] {
  const { isMultiline, limit } = searched;
  if (isMultiline || text.length <= pieceLength) return blocksIn(text, searched);
  const blocks: Block[] = [];
  for (let start = 0; start < text.length && blocks.length < limit;) {
    const end = lineEnd(text, Math.min(start + pieceLength, text.length) - 1);
    for (const { from, to, at } of blocksIn(text.slice(start, end), { ...searched, limit: limit - blocks.length })) {
      blocks.push({ from: from + start, to: to + start, at: at + start });
    }
    start = end;
  }
  return blocks;
}

function blocksIn(text: string, { path, regex, isMultiline, limit }: Searched): Block[] {
  const blocks: Block[] = [];
  const assertInTime = timeLimit(path, text);
  regex.lastIndex = 0;
  for (;;) {
    const match = regex.exec(text);
    assertInTime();
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

/** Returns the first match at or after a position; null when there is none. */
export function firstMatch(
  text: string,
  from: number,
  { path, regex }: Pick<Searched, 'path' | 'regex'>,
): RegExpExecArray | null {
  const assertInTime = timeLimit(path, text);
  regex.lastIndex = from;
  const match = regex.exec(text);
  assertInTime();
  return match;
}

/** The returned function throws `PatternError` when a search of this text has taken too long. */
function timeLimit(path: string, text: string): () => void {
  const workMs = workSince();
  const maxMs = maxWorkMs + text.length * maxWorkMsForCharacter;
  const startedMs = performance.now();
  return () => {
    // The wall clock is checked first because it is cheap. The CPU time is checked too, because the wall clock also
    // advances while other threads run.
    if (performance.now() - startedMs > maxMs && workMs() > maxMs) {
      throw new PatternError(`the pattern takes too long, in ${path}`);
    }
  };
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
export function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 1;
}
