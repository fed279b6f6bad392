/** Measures the memory of a process, and searches its private memory as the kernel shows it to a debugger. */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { expect, type Sandbox } from './sandbox.ts';

const pageBytes = 4096;
const entryBytes = 8;
/** Bits of a page map entry: the page is in memory, or is swapped out. */
const thereBits = 0xc0;

/** The resident memory of a process, and the part of that memory which is not a copy of a file. */
export function memoryOf(pid: number): Readonly<Record<'residentMib' | 'anonymousMib', number>> {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mibOf = (name: string) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024);
  return { residentMib: mibOf('VmRSS'), anonymousMib: mibOf('RssAnon') };
}

/** The largest anonymous memory of the daemon while `work` runs, in MiB. The daemon must not end meanwhile. */
export async function peakDuring(sandbox: Sandbox, work: () => Promise<void>): Promise<number> {
  const daemon = sandbox.daemonPid;
  let peak = 0;
  const look = setInterval(() => (peak = Math.max(peak, memoryOf(daemon).anonymousMib)), 2);
  try {
    await work();
  } finally {
    clearInterval(look);
  }
  expect(sandbox.daemonPid).toBe(daemon);
  return peak;
}

/** Returns the words that occur in the process's anonymous memory. */
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

/** Lines of the map without a path are anonymous, as is the heap of the C library. */
function ownRanges(pid: number): Range[] {
  const lines = readFileSync(`/proc/${pid}/maps`, 'utf8').matchAll(
    /^([\da-f]+)-([\da-f]+) rw\S+ \S+ \S+ 0\s*(?:\[heap\])?$/gm,
  );
  return Array.from(lines, ([, from = '', to = '']) => ({
    from: Number.parseInt(from, 16),
    to: Number.parseInt(to, 16),
  }));
}

/** A range may be a thousand times as large as the part in use. */
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
