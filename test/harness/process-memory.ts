/** Looks at what a process keeps in memory of its own, as its kernel shows it to whoever may debug it. */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

const pageBytes = 4096;
const entryBytes = 8;
/** Of an entry of the page map: the page is in memory, or was moved out of it. */
const thereBits = 0xc0;

/** Those of the words that stand somewhere in memory that belongs to no file. */
export function wordsInMemory(pid: number, words: readonly string[]): Set<string> {
  const wanted = words.map((word) => [word, Buffer.from(word)] as const);
  const found = new Set<string>();
  for (const piece of ownPieces(pid)) {
    for (const [word, bytes] of wanted) {
      if (!found.has(word) && piece.includes(bytes)) found.add(word);
    }
  }
  return found;
}

function* ownPieces(pid: number): Generator<Buffer> {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const pages = openSync(`/proc/${pid}/pagemap`, 'r');
  try {
    for (const { from, to } of ownRanges(pid)) {
      for (const run of writtenRuns(pages, from, to)) {
        const piece = Buffer.alloc(run.to - run.from);
        yield piece.subarray(0, readSync(memory, piece, 0, piece.length, run.from));
      }
    }
  } finally {
    closeSync(memory);
    closeSync(pages);
  }
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Lines of the map without a path are anonymous, and so is the heap of the C library. */
function ownRanges(pid: number): Range[] {
  const lines = readFileSync(`/proc/${pid}/maps`, 'utf8').matchAll(
    /^([\da-f]+)-([\da-f]+) rw\S+ \S+ \S+ 0\s*(?:\[heap\])?$/gm,
  );
  return Array.from(lines, ([, from = '', to = '']) => ({
    from: Number.parseInt(from, 16),
    to: Number.parseInt(to, 16),
  }));
}

/** A range may be a thousand times what is ever used of it. */
function* writtenRuns(pages: number, from: number, to: number): Generator<Range> {
  const entries = Buffer.alloc(((to - from) / pageBytes) * entryBytes);
  readSync(pages, entries, 0, entries.length, (from / pageBytes) * entryBytes);
  let start: number | null = null;
  for (let at = from; at <= to; at += pageBytes) {
    const flags = entries[((at - from) / pageBytes) * entryBytes + entryBytes - 1] ?? 0;
    const isThere = at < to && (flags & thereBits) !== 0;
    if (isThere && start === null) start = at;
    if (!isThere && start !== null) {
      yield { from: start, to: at };
      start = null;
    }
  }
}
