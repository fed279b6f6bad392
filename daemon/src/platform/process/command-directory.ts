/** Reads and writes the files of one command: the daemon's note, the keeper's logs and its journal. */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { ByteLog, joinRanges, type LogSource, type Range } from '../../kit/byte-log.ts';
import { errnoOf, nullOnNow } from '../../kit/errno.ts';
import { streamNames, type StreamName } from '../../kit/types/stream-name.ts';
import type { SpareDirectories } from './spare-directories.ts';
import { endCauses, failureStages, type FailureStage, type KeeperStatus } from './keeper-protocol.ts';

/** The next command writes as much again. */
const maxKeptNoteBytes = 4096;
const headerBytes = 1024;
/** The journal of a directory that a daemon has claimed. */
const neverStarted = '{"event":"never-started"}\n';
const headerAttempts = 100;
const newline = 10;
const fileOf = { stdout: 'out', stderr: 'err' } as const;

/** The state of a command according to its journal, for a daemon that was not running at the time. */
export interface JournalEnd extends Pick<KeeperStatus, 'pid' | 'end' | 'head' | 'startedMs' | 'stdinAccepted'> {
  readonly exit: JournalExit | null;
  readonly failure: { readonly stage: FailureStage; readonly errno: number } | null;
  /** True while the keeper has claimed the command and written no event. */
  readonly isSilent: boolean;
  /** True when no process holds its output pipes any more. */
  readonly isClosed: boolean;
}

export type JournalExit = Pick<KeeperStatus, 'exitCode' | 'signal' | 'cause' | 'oomKilled' | 'exitedMs'>;

/** A run of bytes of one stream, in the order of their arrival. */
export interface ArrivalRun {
  readonly stream: StreamName;
  /** The end of the run as an offset in its stream. */
  readonly end: number;
}

export class CommandDirectory {
  #descriptors = new Map<string, number>();
  #users = 0;
  /** False when the daemon knows that no input is stored. */
  #mayHoldInput = true;
  #noteBytes = 0;

  constructor(
    readonly path: string,
    /** null for a directory of an earlier daemon: clients of that daemon may still read the files. */
    private readonly spares: SpareDirectories | null = null,
  ) {}

  /** `input` is kept until all of it is written to standard input, beyond the life of this daemon. */
  static async create(spares: SpareDirectories, note: string, input: Uint8Array | null): Promise<CommandDirectory> {
    const directory = new CommandDirectory(spares.take() ?? makeDirectory(spares.newPath()), spares);
    directory.#mayHoldInput = input !== null;
    try {
      await directory.#fill(note, input);
      return directory;
    } catch (error) {
      directory.remove(); // A full disk must not fill up with directories of commands that never started.
      // Another daemon removes spare directories when it takes over, also when it fails right after.
      if (errnoOf(error) === 'ENOENT') return await CommandDirectory.create(spares, note, input);
      throw error;
    }
  }

  /** The input may be large, and a disk slow. Without a note, no other daemon serves the command. */
  async #fill(note: string, input: Uint8Array | null): Promise<void> {
    if (input) await writeFile(`${this.path}/input`, input, { mode: 0o600 });
    this.#noteBytes = writeNote(`${this.path}/meta.json`, note);
  }

  /** The daemon's own note, as given to `create`; null when the start was interrupted before the note was complete. */
  note(): string | null {
    return readIfPresent(`${this.path}/meta.json`)?.trimEnd() ?? null;
  }

  /** The size of the input for standard input; null when no input is left. */
  inputBytes(): number | null {
    return statSync(`${this.path}/input`, { throwIfNoEntry: false })?.size ?? null;
  }

  /** Reads a part of the input. A command may never read it, so the daemon does not hold all of it in memory. */
  inputPart(offset: number, limit: number): Uint8Array {
    const buffer = Buffer.allocUnsafe(limit);
    const descriptor = openSync(`${this.path}/input`, 'r');
    try {
      return buffer.subarray(0, readSync(descriptor, buffer, 0, limit, offset));
    } finally {
      closeSync(descriptor);
    }
  }

  forgetInput(): void {
    rmSync(`${this.path}/input`, { force: true });
    this.#mayHoldInput = false;
  }

  /** False once the keeper has exited. A keeper that was killed leaves its socket behind. */
  hasKeeper(): boolean {
    return existsSync(`${this.path}/control`);
  }

  /** When the keeper last wrote to the journal or to a log; stands in for an end that the keeper could not record. */
  lastWriteMs(): number {
    const written = ['journal', 'out', 'err'].map(
      (name) => statSync(`${this.path}/${name}`, { throwIfNoEntry: false })?.mtimeMs ?? 0,
    );
    return Math.max(...written) || Date.now();
  }

  /** Where the retained output of each stream starts now. */
  heads(): [number, number] {
    return [this.#holes('stdout')[0], this.#holes('stderr')[0]].map((hole) => (hole?.from === 0 ? hole.to : 0)) as [
      number,
      number,
    ];
  }

  /** True when a daemon claimed the journal: no keeper has started in this directory, and none ever will. */
  claim(): boolean {
    // Far cheaper than the exception below. The daemon that claimed the journal may have been killed right after.
    if (existsSync(`${this.path}/journal`)) return readIfPresent(`${this.path}/journal`) === neverStarted;
    const write = () => writeFileSync(`${this.path}/journal`, neverStarted, { flag: 'wx', mode: 0o600 });
    return nullOnNow('EEXIST', write) !== null;
  }

  /** Writes the journal of a command that was killed before its start, as a keeper writes that of any other. */
  writeKilled(signal: number): void {
    const header = JSON.stringify({ v: 1, seq: 1, head: [0, 0], gaps: [[], []], seq2: 1 });
    const nowNs = Date.now() * 1e6;
    const cause = endCauses.indexOf('signal');
    const end = { pid: 0, exit_code: 0, signal, cause, oom: 0, end: [0, 0], started_ns: nowNs, exited_ns: nowNs };
    const lines = ['exited', 'closed'].map((event) => `${JSON.stringify({ event, at_ns: nowNs, ...end })}\n`);
    writeFileSync(`${this.path}/journal`, `${header.padEnd(headerBytes - 1)}\n${lines.join('')}`, { mode: 0o600 });
  }

  /** Keeps the log files open between reads; the last user closes them. */
  use(): Disposable {
    this.#users += 1;
    return {
      [Symbol.dispose]: () => {
        this.#users -= 1;
        if (this.#users > 0) return;
        for (const descriptor of this.#descriptors.values()) closeSync(descriptor);
        this.#descriptors.clear();
      },
    };
  }

  log(stream: StreamName): ByteLog {
    const source: LogSource = {
      readAt: (offset, into) => this.#readAt(fileOf[stream], offset, into),
      holes: () => this.#holes(stream),
    };
    return new ByteLog(source);
  }

  /** The ends of the streams by the sizes of their logs, for a command whose keeper was lost. */
  storedEnds(): [number, number] {
    return [this.#size('out'), this.#size('err')];
  }

  /** The runs from entry `from` on; fewer than requested at the end of the index. */
  arrivals(from: number, limit: number): ArrivalRun[] {
    const bytes = Buffer.alloc(limit * 8);
    const count = this.#readAt('order', from * 8, bytes) >> 3;
    return Array.from({ length: count }, (_, index) => {
      const entry = bytes.readBigUInt64LE(index * 8);
      return { stream: entry & 1n ? 'stderr' : 'stdout', end: Number(entry >> 1n) };
    });
  }

  journal(): JournalEnd | null {
    const text = readIfPresent(`${this.path}/journal`);
    if (text === null) return null;
    // The events contain the heads as they were at the time; the header contains the current ones.
    const [out = 0, err = 0] = parseHeader(text.slice(0, headerBytes))?.head ?? [];
    return { ...readJournal(text.slice(headerBytes)), head: [out, err] };
  }

  /**
   * Removes the directory, or keeps its files for another command when nothing reads or writes them.
   * `isQuiet`: the keeper has left the directory, and the command had no output.
   */
  retire(isQuiet: boolean): void {
    const isBare = isQuiet && !this.#mayHoldInput;
    const isInUse = this.#users > 0 || (!isBare && this.hasKeeper());
    if (isInUse || this.#noteBytes > maxKeptNoteBytes || !this.spares?.keep(this.path, isBare)) this.remove();
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  #readAt(file: string, offset: number, into: Uint8Array): number {
    const descriptor = this.#open(file);
    if (descriptor === null) return 0;
    const count = readSync(descriptor, into, 0, into.length, offset);
    if (this.#users === 0) this.#close(file, descriptor);
    return count;
  }

  #size(file: string): number {
    const descriptor = this.#open(file);
    if (descriptor === null) return 0;
    const { size } = fstatSync(descriptor);
    if (this.#users === 0) this.#close(file, descriptor);
    return size;
  }

  #open(file: string): number | null {
    const known = this.#descriptors.get(file);
    if (known !== undefined) return known;
    // Null when the keeper has not written to it yet.
    const descriptor = nullOnNow('ENOENT', () => openSync(`${this.path}/${file}`, 'r'));
    if (descriptor !== null) this.#descriptors.set(file, descriptor);
    return descriptor;
  }

  #close(file: string, descriptor: number): void {
    this.#descriptors.delete(file);
    closeSync(descriptor);
  }

  #holes(stream: StreamName): readonly Range[] {
    const index = streamNames.indexOf(stream);
    const bytes = Buffer.alloc(headerBytes);
    for (let attempt = 0; attempt < headerAttempts; attempt++) {
      const count = this.#readAt('journal', 0, bytes);
      // A journal of a reused directory is blank until the keeper writes its first event.
      if (count > 0 && bytes[0] === newline) return [];
      const header = count === headerBytes ? parseHeader(bytes.toString('latin1')) : null;
      if (header) return joinRanges([{ from: 0, to: header.head[index] ?? 0 }, ...(header.gaps[index] ?? [])]);
      if (count === 0) return [];
    }
    throw new Error(`the journal header of ${this.path} cannot be read`);
  }
}

interface Header {
  readonly head: readonly number[];
  readonly gaps: readonly (readonly Range[])[];
}

/** Null while the keeper is rewriting the header: its two sequence numbers then differ. */
function parseHeader(line: string): Header | null {
  try {
    const header = JSON.parse(line) as { seq: number; seq2: number; head: number[]; gaps: [number, number][][] };
    if (header.seq !== header.seq2) return null;
    return { head: header.head, gaps: header.gaps.map((gaps) => gaps.map(([from, to]) => ({ from, to }))) };
  } catch {
    return null; // Half of the old header and half of the new one is not JSON; the caller reads again.
  }
}

interface JournalLine {
  readonly event: 'spawned' | 'failed' | 'exited' | 'closed';
  readonly pid: number;
  readonly exit_code: number;
  readonly signal: number;
  readonly cause: number;
  readonly oom: number;
  readonly at_ns: number;
  readonly started_ns: number;
  readonly end: [number, number];
  /** Keepers of earlier releases leave it out. */
  readonly stdin?: number;
  readonly exited_ns: number;
  readonly stage: number;
  readonly errno: number;
}

function readJournal(text: string): Omit<JournalEnd, 'head'> {
  const lines = text.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'));
  const events = new Map(lines.flatMap(parseLine).map((line) => [line.event, line]));
  const exited = events.get('exited');
  const failed = events.get('failed');
  const last = events.get('closed') ?? exited ?? events.get('spawned');
  return {
    isSilent: events.size === 0,
    isClosed: events.has('closed'),
    pid: last?.pid ?? 0,
    end: last?.end ?? [0, 0],
    stdinAccepted: last?.stdin ?? 0,
    startedMs: (last?.started_ns ?? 0) / 1e6,
    failure: failed ? { stage: failureStages[failed.stage - 1] ?? 'protocol', errno: failed.errno } : null,
    exit: exited
      ? {
          exitCode: exited.exit_code,
          signal: exited.signal,
          cause: endCauses[exited.cause] ?? 'none',
          oomKilled: exited.oom === 2 ? null : exited.oom === 1,
          exitedMs: exited.exited_ns / 1e6,
        }
      : null,
  };
}

function parseLine(line: string): JournalLine[] {
  try {
    return [JSON.parse(line) as JournalLine];
  } catch {
    return []; // A loss of power cut the line off; the other lines are still valid.
  }
}

function makeDirectory(path: string): string {
  mkdirSync(path, { mode: 0o700 });
  return path;
}

/**
 * Writes the note, and empty lines over the rest of an earlier one. A truncation would be slow on some file systems:
 * ext4 writes a file to the disk at once when it is filled again. Returns the size of the file.
 */
function writeNote(path: string, note: string): number {
  const file = openSync(path, constants.O_WRONLY | constants.O_CREAT, 0o600);
  try {
    const text = Buffer.from(note);
    const bytes = Buffer.alloc(Math.max(text.length, fstatSync(file).size), '\n');
    text.copy(bytes);
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at, bytes.length - at, at);
    return bytes.length;
  } finally {
    closeSync(file);
  }
}

function readIfPresent(path: string): string | null {
  return nullOnNow('ENOENT', () => readFileSync(path, 'utf8'));
}
