/** Runs ripgrep for a grep query, parses the JSON output as it arrives, and stops ripgrep after enough matches. */
import { launch } from '../../../processes/launch.ts';
import { readLog } from '../../../processes/read-log.ts';
import { terminateLater } from '../../../processes/terminate.ts';
import { Deadline } from '../../../../kit/deadline.ts';
import { HandedOver } from '../../../../kit/handed-over.ts';
import { decodeUtf8 } from '../../../../kit/text.ts';
import type { Child, Spawn, SpawnRequest } from '../../../../platform/spawn.ts';
import { placeOf } from '../../read/ordering.ts';
import { TimeSlices } from '../../../../kit/slices.ts';
import { countArguments, searchArguments } from './ripgrep-arguments.ts';
import { RipgrepReport } from './ripgrep-report.ts';
import type { GrepBackend, GrepFound, GrepMatch, GrepQuery } from './query.ts';

export interface RipgrepDeps {
  /** An absolute path. */
  readonly program: string;
  readonly spawn: Spawn;
  /** Called with errors that occur while the process is being stopped. */
  readonly onFault: (error: unknown) => void;
}

/** Ripgrep could not run or gave invalid output. Another engine can still answer. */
export class RipgrepFailure extends Error {
  override readonly name = 'RipgrepFailure';
}

const chunkBytes = 256 * 1024;
/** Limit on unread output. The daemon normally stops ripgrep long before. */
const capBytes = 64 * 1024 * 1024;
/** Parsing more than 8 MiB in one call would block all other requests. The built-in engine has its own thread. */
const longestLinePieces = (8 * 1024 * 1024) / chunkBytes;
/** Polling interval for output: a notification for every line would take CPU time from ripgrep. */
const lookEveryMs = 20;
const longestRunMs = 15 * 60 * 1000;
/**
 * A multi-threaded search is fast but unordered. Up to this number of matches, the daemon collects all matches and
 * sorts them. Beyond this number, the daemon restarts ripgrep with one thread in tree order. That run soon reaches the
 * limit and is stopped.
 */
const sortedAnyway = (limit: number): number => limit + 20_000;
/** Only a faster search counts the files too, because counting adds a quarter of the search time. */
const countedWithinMs = 100;

type Outcome =
  | { readonly kind: 'ended'; readonly exitCode: number | null; readonly stderr: string }
  /** There were enough matches, or the caller cancelled the search. */
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

  /** Passes every line to `takes` until `takes` returns false. */
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
      terminateLater(child, this.deps.onFault);
    }
  }

  #start(cwd: string, args: readonly string[]): Promise<Child> {
    const request: SpawnRequest = {
      plane: 'tools',
      note: { tool: 'rg' },
      argv: [this.deps.program, ...args],
      // The environment is empty, so that no configuration file or home directory of the image changes the search.
      env: {},
      cwd,
      account: null,
      stdin: 'null',
      isAwaited: true,
      capBytes,
      hardTimeoutMs: longestRunMs,
      graceMs: 0,
    };
    const refuse = (error: unknown) => (error instanceof HandedOver ? error : new RipgrepFailure(String(error)));
    return launch(this.deps.spawn, request, refuse);
  }
}

async function readLines(child: Child, takes: (line: Buffer) => boolean, signal: AbortSignal): Promise<Outcome> {
  using _open = child.directory.use();
  const slices = new TimeSlices();
  let rest: Buffer[] = [];
  for (let at = 0; ;) {
    if (signal.aborted) return { kind: 'stopped' };
    if (slices.isOver) await slices.pause();
    // Checked before reading, so that all output from before the end is read.
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
      if (child.ownership.isLeft) throw new HandedOver();
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
  const stderr = decodeUtf8(readLog(child.log('stderr'), 0, chunkBytes).bytes);
  return { kind: 'ended', exitCode: end.exitCode, stderr };
}

/** The built-in engine then refuses the pattern, so that the message is the same without ripgrep. */
function failureOf({ exitCode, stderr }: Extract<Outcome, { kind: 'ended' }>): RipgrepFailure {
  return new RipgrepFailure(`it ended with ${exitCode}: ${stderr.trim()}`);
}

/** Sorts by file. Matches within a file are already in order. */
function sorted(matches: readonly GrepMatch[]): GrepMatch[] {
  const placed = matches.map((match, index) => ({ match, index, place: placeOf(match.path) }));
  placed.sort((a, b) => (a.place === b.place ? a.index - b.index : a.place < b.place ? -1 : 1));
  return placed.map(({ match }) => match);
}
