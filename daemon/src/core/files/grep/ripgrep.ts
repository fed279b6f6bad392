/** Grep by ripgrep: its JSON as it comes, and its end as soon as there is enough of it. */
import { endTool } from '../../capabilities/tool-run.ts';
import { Deadline } from '../../../kit/deadline.ts';
import { HandedOver } from '../../../kit/handed-over.ts';
import { decodeUtf8 } from '../../../kit/text.ts';
import type { Child, Spawn } from '../../../platform/spawn.ts';
import { placeOf } from '../ordering.ts';
import { Slices } from '../../../kit/slices.ts';
import { countArguments, searchArguments } from './ripgrep-arguments.ts';
import { RipgrepReport } from './ripgrep-report.ts';
import { type GrepBackend, type GrepFound, type GrepMatch, type GrepQuery, PatternError } from './query.ts';

export interface RipgrepDeps {
  /** An absolute path. */
  readonly program: string;
  readonly spawn: Spawn;
  /** Told of what goes wrong when it is put away. */
  readonly onFault: (error: unknown) => void;
}

/** It could not be run, or did not say what it should: another engine can still answer. */
export class RipgrepFailure extends Error {
  override readonly name = 'RipgrepFailure';
}

const chunkBytes = 256 * 1024;
/** Of output that is not read yet; ripgrep is stopped long before, when it says more than is wanted. */
const capBytes = 64 * 1024 * 1024;
/** To parse more than 8 MiB at once would hold up everybody: the other engine has a thread of its own. */
const longestLinePieces = (8 * 1024 * 1024) / chunkBytes;
/** The end is told at once; to be told of every line too would take from ripgrep what processors there are. */
const lookEveryMs = 20;
const longestRunMs = 15 * 60 * 1000;
/**
 * Threads are fast and come in no order: as long as there is little to sort, all of it is taken and sorted here. When
 * there is more, ripgrep starts anew in the order of the tree, on one thread, and stops at the limit, which is near.
 */
const sortedAnyway = (limit: number): number => limit + 20_000;
/** A tree that was searched this fast is counted too; for a large one that would take a quarter of the time again. */
const countedWithinMs = 100;

type Outcome =
  | { readonly kind: 'ended'; readonly exitCode: number | null; readonly stderr: string }
  /** There was enough, or nobody waits any more. */
  | { readonly kind: 'stopped' };

export class RipgrepGrep implements GrepBackend {
  readonly name = 'ripgrep';

  constructor(private readonly deps: RipgrepDeps) {}

  /** Also throws `RipgrepFailure`. */
  async search(query: GrepQuery, signal: AbortSignal): Promise<GrepFound> {
    const unsorted = await this.#report(query, false, sortedAnyway(query.limit), signal);
    if (unsorted.isWhole) {
      const matches = sorted(unsorted.matches);
      const isCut = matches.length >= query.limit;
      const filesSearched = isCut || unsorted.tookMs > countedWithinMs ? null : await this.#count(query, signal);
      return { matches: matches.slice(0, query.limit), filesSearched };
    }
    const report = signal.aborted ? unsorted : await this.#report(query, true, query.limit, signal);
    return { matches: report.matches.slice(0, query.limit), filesSearched: null };
  }

  async #report(query: GrepQuery, isSorted: boolean, enough: number, signal: AbortSignal): Promise<RipgrepReport> {
    const report = new RipgrepReport(query);
    const takes = (line: Buffer): boolean => {
      report.add(line);
      return report.matches.length < enough;
    };
    const outcome = await this.#run(query, searchArguments(query, isSorted), takes, signal);
    if (outcome.kind === 'ended' && !report.isWhole) throw failureOf(outcome);
    return report;
  }

  async #count(query: GrepQuery, signal: AbortSignal): Promise<number | null> {
    let count = 0;
    const outcome = await this.#run(query, countArguments(query), () => (count += 1) > 0, signal);
    return outcome.kind === 'ended' ? count : null;
  }

  /** Hands every line on until `takes` has enough. */
  async #run(
    { root }: GrepQuery,
    args: readonly string[],
    takes: (line: Buffer) => boolean,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const child = await this.#start(root, args);
    try {
      return await readLines(child, takes, signal);
    } finally {
      void endTool(child).catch(this.deps.onFault);
    }
  }

  #start(cwd: string, args: readonly string[]): Promise<Child> {
    const started = this.deps.spawn.start({
      input: null,
      note: JSON.stringify({ tool: 'rg' }),
      argv: [this.deps.program, ...args],
      env: {}, // Nothing of the image steers it: no file of settings, no home.
      cwd,
      account: null,
      stdin: 'null',
      merge: false,
      isAwaited: true,
      capBytes,
      hardTimeoutMs: longestRunMs,
      graceMs: 0,
      limits: [],
    });
    return started.catch((error: unknown) => {
      if (error instanceof HandedOver) throw error;
      throw new RipgrepFailure(String(error));
    });
  }
}

async function readLines(child: Child, takes: (line: Buffer) => boolean, signal: AbortSignal): Promise<Outcome> {
  using _open = child.directory.use();
  const slices = new Slices();
  let rest: Buffer[] = [];
  for (let at = 0; ;) {
    if (signal.aborted) return { kind: 'stopped' };
    if (slices.isOver) await slices.pause();
    // Looked at first: what was written before the end is then read before the end.
    const isOver = child.end !== null && !child.streamsOpen;
    child.refresh();
    const piece = child.ends[0] > at ? child.log('stdout').read(at, Math.min(chunkBytes, child.ends[0] - at)) : null;
    if (piece?.kind === 'gap') throw new RipgrepFailure('it said more than could be read');
    if (piece) {
      at += piece.bytes.length;
      const lines = linesIn(rest, piece.bytes);
      rest = lines.rest;
      if (rest.length > longestLinePieces) throw new RipgrepFailure('a line of it is too long to be read in between');
      for (const line of lines.whole) {
        if (!takes(line)) return { kind: 'stopped' };
        if (slices.isOver) await slices.pause();
      }
    } else if (isOver) {
      return endOf(child);
    } else {
      using soon = new Deadline(lookEveryMs, signal);
      await child.changed(soon.signal);
      if (child.isLetGo) throw new HandedOver();
    }
  }
}

function linesIn(before: readonly Buffer[], bytes: Uint8Array): { whole: Buffer[]; rest: Buffer[] } {
  const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const whole: Buffer[] = [];
  let start = 0;
  for (let end = piece.indexOf(0x0a); end !== -1; end = piece.indexOf(0x0a, start)) {
    const line = piece.subarray(start, end);
    whole.push(whole.length === 0 && before.length > 0 ? Buffer.concat([...before, line]) : line);
    start = end + 1;
  }
  const rest = piece.subarray(start);
  return { whole, rest: whole.length === 0 ? [...before, rest] : [rest] };
}

function endOf(child: Child): Outcome {
  const { end } = child;
  if (end?.kind !== 'exited') throw new RipgrepFailure(end?.kind === 'failed' ? end.message : 'it was lost');
  const said = child.log('stderr').read(0, chunkBytes);
  const stderr = said?.kind === 'bytes' ? decodeUtf8(said.bytes) : '';
  return { kind: 'ended', exitCode: end.exitCode, stderr };
}

/** It ends with 2 and a word of why when it could not even begin. */
function failureOf({ exitCode, stderr }: Extract<Outcome, { kind: 'ended' }>): Error {
  const reason = stderr.trim();
  if (exitCode !== 2 || reason === '') return new RipgrepFailure(`it ended with ${exitCode}: ${reason}`);
  return new PatternError(`the pattern does not compile: ${reason.replace(/^(?:rg: |regex parse error:\s*)+/, '')}`);
}

/** Within a file they are in order already. */
function sorted(matches: readonly GrepMatch[]): GrepMatch[] {
  const placed = matches.map((match, index) => ({ match, index, place: placeOf(match.path) }));
  placed.sort((a, b) => (a.place === b.place ? a.index - b.index : a.place < b.place ? -1 : 1));
  return placed.map(({ match }) => match);
}
