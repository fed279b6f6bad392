/** The files of one command (docs/protocols/keeper.md): the daemon's note, the keeper's logs and its journal. */
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { ByteLog, joinRanges, type LogSource, type Range } from '../kit/byte-log.ts';
import type { SpareDirectories } from './spare-directories.ts';
import { endCauses, failureStages, type EndCause, type FailureStage } from './keeper-protocol.ts';

export type StreamName = 'stdout' | 'stderr';
export const streamNames = ['stdout', 'stderr'] as const;

const headerBytes = 1024;
const headerAttempts = 100;
const fileOf = { stdout: 'out', stderr: 'err' } as const;

/** How a command stands in its journal, for a daemon that was not there. */
export interface JournalEnd {
  readonly pid: number;
  readonly end: readonly [number, number];
  readonly head: readonly [number, number];
  readonly exit: JournalExit | null;
  readonly failure: { readonly stage: FailureStage; readonly errno: number } | null;
  readonly startedMs: number;
  /** True while the keeper has claimed the command and told nothing of it. */
  readonly isSilent: boolean;
  /** True when nobody holds its output any more. */
  readonly isClosed: boolean;
}

export interface JournalExit {
  readonly exitCode: number;
  readonly signal: number;
  readonly cause: EndCause;
  readonly oomKilled: boolean | null;
  readonly exitedMs: number;
}

/** A run of bytes of one stream, in the order of their arrival. */
export interface ArrivalRun {
  readonly stream: StreamName;
  /** Where in its stream the run ends. */
  readonly end: number;
}

export class CommandDirectory {
  #descriptors = new Map<string, number>();
  #users = 0;

  constructor(
    readonly path: string,
    /** null for what an earlier daemon has made: those who stayed with that one may still read the files. */
    private readonly spares: SpareDirectories | null = null,
  ) {}

  /** `input` is kept until all of it is in standard input, beyond the life of this daemon. */
  static create(path: string, spares: SpareDirectories, note: string, input: Uint8Array | null): CommandDirectory {
    if (!spares.take(path)) mkdirSync(path, { mode: 0o700 });
    const directory = new CommandDirectory(path, spares);
    try {
      if (input) writeFileSync(`${path}/input`, input, { mode: 0o600 });
      writeFileSync(`${path}/meta.json`, note, { mode: 0o600 });
    } catch (error) {
      directory.remove(); // A full disk must not fill up with directories of commands that never were.
      throw error;
    }
    return directory;
  }

  /** The daemon's own note, as it was given to `create`; null when the start was cut off before it was whole. */
  note(): string | null {
    return readIfPresent(`${this.path}/meta.json`);
  }

  /** How much there was to be written to standard input; null when nothing is left of it. */
  inputBytes(): number | null {
    return statSync(`${this.path}/input`, { throwIfNoEntry: false })?.size ?? null;
  }

  /** A part of it: a command may never read it, and memory is everybody's. */
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
  }

  /** False once its keeper has left; one that was killed leaves its socket behind. */
  hasKeeper(): boolean {
    return existsSync(`${this.path}/control`);
  }

  /** When the keeper last wrote to the journal, for what it did not live to tell. */
  lastWriteMs(): number {
    return statSync(`${this.path}/journal`, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  }

  /** Where the kept output of each stream starts now. */
  heads(): [number, number] {
    return [this.#holes('stdout')[0], this.#holes('stderr')[0]].map((hole) => (hole?.from === 0 ? hole.to : 0)) as [
      number,
      number,
    ];
  }

  /** True when the journal is ours: no keeper has started, and none ever will in this directory. */
  claim(): boolean {
    try {
      writeFileSync(`${this.path}/journal`, '{"event":"never-started"}\n', { flag: 'wx', mode: 0o600 });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    }
  }

  /** Keeps the log files open between two reads; closed with the last user. */
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

  /** Where the streams end by the size of their logs: what is left to say when the keeper was lost. */
  storedEnds(): [number, number] {
    return [this.#size('out'), this.#size('err')];
  }

  /** The runs from entry `from` on; fewer than asked for at the end of the index. */
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
    // The events tell the heads as they were then; the header has them as they are.
    const [out = 0, err = 0] = parseHeader(text.slice(0, headerBytes))?.head ?? [];
    return { ...readJournal(text.slice(headerBytes)), head: [out, err] };
  }

  /** Removes it, or lets another command have its files when nobody reads them and no keeper is left to write them. */
  retire(): void {
    if (this.#users > 0 || this.hasKeeper() || !this.spares?.keep(this.path)) this.remove();
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
    try {
      const descriptor = openSync(`${this.path}/${file}`, 'r');
      this.#descriptors.set(file, descriptor);
      return descriptor;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null; // Nothing was written to it yet.
      throw error;
    }
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

/** Null while the keeper is in the middle of rewriting it: its two ends then carry different numbers. */
function parseHeader(line: string): Header | null {
  try {
    const header = JSON.parse(line) as { seq: number; seq2: number; head: number[]; gaps: [number, number][][] };
    if (header.seq !== header.seq2) return null;
    return { head: header.head, gaps: header.gaps.map((gaps) => gaps.map(([from, to]) => ({ from, to }))) };
  } catch {
    return null; // Half of one version and half of another is not JSON; the caller looks again.
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
    return []; // Cut off by a loss of power; what the other lines tell still holds.
  }
}

function readIfPresent(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
