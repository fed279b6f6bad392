/** Runs the carried ripgrep for a query, parses the output as it arrives, and stops ripgrep after enough matches. */
import { promises as fs } from 'node:fs';
import { constants } from 'node:os';
import { launch } from '../../../processes/launch.ts';
import { readLog } from '../../../processes/read-log.ts';
import { terminateLater } from '../../../processes/terminate.ts';
import { Deadline } from '../../../../kit/deadline.ts';
import { CoreError } from '../../../../kit/errors.ts';
import { HandedOver } from '../../../../kit/handed-over.ts';
import { decodePath, systemPath } from '../../../../kit/text/path-text.ts';
import { decodeUtf8 } from '../../../../kit/text/text.ts';
import type { Child, KeeperSpawn, SpawnRequest } from '../../../../platform/process/spawn.ts';
import { treeKeyOf } from '../../read/ordering.ts';
import { TimeSlices } from '../../../../kit/slices.ts';
import { SkippedList } from '../../tree/skipped.ts';
import { join } from '../gitignore.ts';
import { listArguments, searchArguments, type SearchForm } from './ripgrep-arguments.ts';
import { refusalIn, slowFileIn, unreadableIn } from './ripgrep-errors.ts';
import { RipgrepReport } from './ripgrep-report.ts';
import { type GrepFound, type GrepMatch, type GrepQuery, LineTooLong, PatternError } from './query.ts';

export interface RipgrepDeps {
  /** An absolute path. */
  readonly program: string;
  readonly spawn: KeeperSpawn;
  /** Called with errors that occur while the process is being stopped. */
  readonly onFault: (error: unknown) => void;
}

const chunkBytes = 256 * 1024;
/** Ripgrep waits while this much output is unread. */
const capBytes = 16 * 1024 * 1024;
/** One line for each file that cannot be read. */
const maxErrorBytes = 4 * 1024 * 1024;
/** Parsing more than 8 MiB in one call would block all other requests. */
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

/** RLIMIT_DATA of `<sys/resource.h>`. More memory, for example for a line without an end, aborts ripgrep. */
const dataLimit = 2;
const maxMemoryBytes = 128 * 1024 * 1024;
/** Look-around needs backtracking, which may take any time. */
const maxBacktrackingMs = 60_000;
/** A search that takes longer starts again and passes over binary files, which ripgrep then hardly reads. */
const binaryWithinMs = 2000;
/** More files than this are not looked at one by one to find those that are too large. */
const maxListedFiles = 100_000;
const statAtOnce = 64;

type Outcome =
  | { readonly kind: 'ended'; readonly stderr: string }
  /** There were enough matches, or the caller cancelled the search. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'late' };

interface Look {
  readonly isSorted: boolean;
  /** Number of matches after which ripgrep is stopped. */
  readonly enough: number;
}

const inOrder = ({ limit }: GrepQuery): Look => ({ isSorted: true, enough: limit });

interface FormedQuery extends GrepQuery {
  readonly form: SearchForm;
}

interface Looked {
  readonly report: RipgrepReport;
  /** False when binary files were passed over. */
  readonly hasSeenBinary: boolean;
  readonly stderr: string;
}

export class RipgrepGrep {
  constructor(private readonly deps: RipgrepDeps) {}

  /** Throws `PatternError`, `LineTooLong` and `unavailable`. Ends early when the signal aborts. */
  async search(query: GrepQuery, signal: AbortSignal): Promise<GrepFound> {
    for (let form = { engine: 'default', output: 'json' } as SearchForm; ;) {
      try {
        return await this.#search({ ...query, form }, signal);
      } catch (error) {
        form = otherForm(form, query, error);
      }
    }
  }

  async #search(query: FormedQuery, signal: AbortSignal): Promise<GrepFound> {
    const first = query.fileName === null ? { isSorted: false, enough: sortedAnyway(query.limit) } : inOrder(query);
    const looked = await this.#look(query, first, signal);
    if (looked.report.isWhole) {
      const matches = sorted(looked.report.matches);
      if (matches.length >= query.limit) return { ...notCounted, matches: matches.slice(0, query.limit) };
      const filesSearched = looked.report.tookMs > countedWithinMs ? null : await this.#count(query, signal);
      return { matches, filesSearched, isCut: false, ...(await this.#skipped(query, looked, signal)) };
    }
    const isDone = first.isSorted || signal.aborted;
    const { report } = isDone ? looked : await this.#look(query, inOrder(query), signal);
    return { ...notCounted, matches: report.matches.slice(0, query.limit), isCut: report.isCut };
  }

  async #look(query: FormedQuery, look: Look, signal: AbortSignal): Promise<Looked> {
    const withinMs = query.form.engine === 'pcre2' ? maxBacktrackingMs : Infinity;
    const isTree = query.fileName === null;
    const looked =
      (await this.#report(
        query,
        { ...look, seesBinary: true, withinMs: isTree ? binaryWithinMs : withinMs },
        signal,
      )) ?? (isTree ? await this.#report(query, { ...look, seesBinary: false, withinMs }, signal) : null);
    if (looked === null) throw new PatternError(`the pattern takes too long: more than ${maxBacktrackingMs / 1000} s`);
    return looked;
  }

  /** Null when the time is over. */
  async #report(
    query: FormedQuery,
    look: Look & { readonly seesBinary: boolean; readonly withinMs: number },
    signal: AbortSignal,
  ): Promise<Looked | null> {
    // Only in tree order is it known which matches are passed over.
    const report = new RipgrepReport(query, look.isSorted ? query.offset : 0);
    const takes = (line: Buffer): boolean => {
      report.add(line);
      return report.matches.length < look.enough && !report.isCut;
    };
    const args = searchArguments(query, { ...query.form, ...look });
    const outcome = await this.#run(query, args, { takes, withinMs: look.withinMs }, signal);
    if (outcome.kind === 'late') return null;
    if (outcome.kind === 'ended') {
      const slowFile = slowFileIn(outcome.stderr);
      if (slowFile !== null) throw new PatternError(`the pattern takes too long, in ${join(query.root, slowFile)}`);
      if (query.form.output === 'rows') report.endRows();
      if (!report.isWhole) throw refusalIn(outcome.stderr, query.pattern);
    }
    return { report, hasSeenBinary: look.seesBinary, stderr: outcome.kind === 'ended' ? outcome.stderr : '' };
  }

  async #count(query: GrepQuery, signal: AbortSignal): Promise<number | null> {
    let count = 0;
    const reading = { takes: () => (count += 1) > 0, withinMs: Infinity };
    const outcome = await this.#run(query, listArguments(query), reading, signal);
    return outcome.kind === 'ended' ? count : null;
  }

  async #skipped(
    query: GrepQuery,
    { report, hasSeenBinary, stderr }: Looked,
    signal: AbortSignal,
  ): Promise<Pick<GrepFound, 'skipped' | 'skippedCount'>> {
    const skipped = new SkippedList();
    for (const path of report.binaryFiles) skipped.add({ path, errnoName: 'EILSEQ' });
    for (const one of unreadableIn(stderr, query.root)) skipped.add(one);
    const isCounted = await this.#addTooLarge(query, skipped, signal);
    const summary = skipped.summary();
    return hasSeenBinary && isCounted ? summary : { ...summary, skippedCount: null };
  }

  /** Ripgrep does not report the files that it finds too large. Returns false when there are too many files. */
  async #addTooLarge(query: GrepQuery, skipped: SkippedList, signal: AbortSignal): Promise<boolean> {
    const { maxFileBytes, root } = query;
    if (maxFileBytes === null) return true;
    const paths: string[] = [];
    const takes = (line: Buffer): boolean =>
      paths.push(join(root, decodePath(line).replace(/^\.\//, ''))) <= maxListedFiles;
    const list = listArguments({ ...query, maxFileBytes: null });
    const outcome = await this.#run(query, list, { takes, withinMs: Infinity }, signal);
    for (let at = 0; at < paths.length && !signal.aborted; at += statAtOnce) {
      const sizes = await Promise.all(paths.slice(at, at + statAtOnce).map(sizeOf));
      for (const [i, size] of sizes.entries()) {
        if (size > maxFileBytes) skipped.add({ path: paths[at + i]!, errnoName: 'EFBIG' });
      }
    }
    return outcome.kind === 'ended' && !signal.aborted;
  }

  async #run(query: GrepQuery, args: readonly string[], reading: Reading, signal: AbortSignal): Promise<Outcome> {
    const child = await this.#start(query, args);
    try {
      return await readLines(child, reading, signal);
    } finally {
      terminateLater(child, this.deps.onFault);
    }
  }

  #start({ root, isMultiline, maxFileBytes }: GrepQuery, args: readonly string[]): Promise<Child> {
    const maxBytes = BigInt(maxMemoryBytes + (isMultiline ? 2 * (maxFileBytes ?? 0) : 0));
    const request: SpawnRequest = {
      plane: 'tools',
      note: { tool: 'rg' },
      argv: [this.deps.program, ...args],
      // The environment is empty, so that no configuration file or home directory of the image changes the search.
      env: {},
      cwd: root,
      account: null,
      stdin: 'null',
      isAwaited: true,
      capBytes,
      waitsForReader: true,
      hardTimeoutMs: longestRunMs,
      graceMs: 0,
      limits: [{ resource: dataLimit, soft: maxBytes, hard: maxBytes }],
    };
    return launch(this.deps.spawn, request, (error) => (error instanceof HandedOver ? error : lost(String(error))));
  }
}

const notCounted = { filesSearched: null, skipped: [], skippedCount: null, isCut: false };

async function sizeOf(path: string): Promise<number> {
  try {
    return (await fs.lstat(systemPath(path))).size;
  } catch {
    return 0; // The file was deleted meanwhile.
  }
}

interface Reading {
  /** Takes every line of the output until it returns false. */
  readonly takes: (line: Buffer) => boolean;
  readonly withinMs: number;
}

async function readLines(child: Child, { takes, withinMs }: Reading, signal: AbortSignal): Promise<Outcome> {
  using _open = child.directory.use();
  const startedMs = performance.now();
  const slices = new TimeSlices();
  let rest: Buffer[] = [];
  /** Bytes of both streams. */
  let consumed = 0;
  for (let at = 0; ;) {
    if (signal.aborted) return { kind: 'stopped' };
    if (performance.now() - startedMs > withinMs) return { kind: 'late' };
    if (slices.isOver) await slices.pause();
    // Checked before reading, so that all output from before the end is read.
    const isOver = child.end !== null && !child.streamsOpen;
    child.refresh();
    if (at + child.ends[1] - consumed >= capBytes / 4) {
      consumed = at + child.ends[1];
      child.consume(at);
    }
    const piece = child.ends[0] > at ? child.log('stdout').read(at, Math.min(chunkBytes, child.ends[0] - at)) : null;
    if (piece?.kind === 'gap') throw lost('its output was dropped unread');
    if (piece) {
      at += piece.bytes.length;
      const lines = linesIn(rest, piece.bytes);
      rest = lines.rest;
      if (rest.length > longestLinePieces) throw new LineTooLong();
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

/** Ripgrep has refused its arguments, or could not read a file. With a higher code it has failed itself. */
const refusedExitCode = 2;

function endOf(child: Child): Outcome {
  const { end } = child;
  if (end?.kind !== 'exited') throw lost(end?.kind === 'failed' ? end.message : 'its keeper was killed');
  if (end.signal === constants.signals.SIGABRT) throw new LineTooLong();
  if (end.exitCode === null) throw lost('it was killed');
  if (end.exitCode > refusedExitCode) throw lost(`it exited with ${end.exitCode}`);
  const stderr = decodeUtf8(readLog(child.log('stderr'), 0, maxErrorBytes).bytes);
  return { kind: 'ended', stderr };
}

function lost(reason: string): CoreError {
  return new CoreError('unavailable', `ripgrep did not finish: ${reason}`, { hint: 'Try again in a moment.' });
}

/** The form in which to repeat a search. Rethrows an error that another form does not help against. */
function otherForm({ engine, output }: SearchForm, query: GrepQuery, error: unknown): SearchForm {
  const isBeyondDefault = error instanceof PatternError && !error.isAcrossLines;
  if (isBeyondDefault && query.hasLookAround && engine === 'default') return { engine: 'pcre2', output };
  if (error instanceof LineTooLong && !query.isMultiline && output === 'json') return { engine, output: 'rows' };
  throw error;
}

/** Sorts by file. Matches within a file are already in order. */
function sorted(matches: readonly GrepMatch[]): GrepMatch[] {
  const placed = matches.map((match, index) => ({ match, index, treeKey: treeKeyOf(match.path) }));
  placed.sort((a, b) => (a.treeKey === b.treeKey ? a.index - b.index : a.treeKey < b.treeKey ? -1 : 1));
  return placed.map(({ match }) => match);
}
