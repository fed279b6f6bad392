/** One command as the daemon sees it: its keeper while that lives, its directory ever after. */
import { existsSync } from 'node:fs';
import { getSystemErrorMap } from 'node:util';
import type { ByteLog, Piece } from '../kit/byte-log.ts';
import { Deadline } from '../kit/deadline.ts';
import { Notifier } from '../kit/notifier.ts';
import type { ArrivalRun, CommandDirectory, JournalEnd, StreamName } from './command-directory.ts';
import { KeeperConnection } from './keeper-connection.ts';
import {
  decodeStatus,
  encodeCap,
  encodeEof,
  encodeFollow,
  encodeFrame,
  encodeResize,
  encodeSignal,
  encodeStdin,
  encodeTerminate,
  encodeWatch,
  failureStages,
  frameType,
  fromKeeper,
  knowsFrame,
  littleOutputBytes,
  maxOutputBytes,
  outputHeaderBytes,
  readUint64,
  signalScope,
  statusFlag,
  toKeeper,
  type EndCause,
  type FailureStage,
  type KeeperStatus,
} from './keeper-protocol.ts';

export type ChildEnd =
  | {
      readonly kind: 'exited';
      /** null after a death by signal. */
      readonly exitCode: number | null;
      readonly signal: number;
      readonly cause: EndCause;
      readonly oomKilled: boolean | null;
      readonly atMs: number;
    }
  | {
      readonly kind: 'failed';
      readonly stage: FailureStage;
      readonly errno: number;
      readonly errnoName: string;
      readonly message: string;
      readonly atMs: number;
    }
  | { readonly kind: 'lost'; readonly atMs: number };

export interface StdinProgress {
  /** Bytes of the whole of stdin that the keeper has taken. */
  readonly accepted: number;
  readonly written: number;
}

export interface Signalled {
  readonly processes: number;
  readonly errno: number;
}

const stdinChunkBytes = 64 * 1024;
const answerMs = 2000;
/** Little pieces of output that are told for one question. */
const tellsAtOnce = 32;
/** How often the files are looked at, while somebody waits, of a command whose keeper talks to another daemon. */
const lookEveryMs = 10;

export class Child {
  pid = 0;
  startedMs = 0;
  end: ChildEnd | null = null;
  /** True while a process holds one of the output pipes. */
  streamsOpen = true;
  stdin: StdinProgress & { readonly isOpen: boolean } = { accepted: 0, written: 0, isOpen: false };
  #ends: readonly [number, number] = [0, 0];
  #heads: readonly [number, number] = [0, 0];
  #connection: KeeperConnection | null = null;
  /** Of the protocol, as its keeper speaks it; the oldest one until that has told. */
  #keeperVersion = 1;
  #isWatching = false;
  /** So often the keeper tells more before it has to be asked again; at least. */
  #tellsLeft = 0;
  /** The last of stdout that has come with the news of it. */
  #news: { readonly from: number; readonly bytes: Uint8Array } | null = null;
  #isForgotten = false;
  #isLetGo = false;
  #keeperPid = 0;
  #looking: ReturnType<typeof setInterval> | null = null;
  readonly #changes = new Notifier();
  readonly #signalled: ((answer: Signalled) => void)[] = [];
  readonly #trees: ((pids: readonly number[]) => void)[] = [];

  constructor(
    readonly directory: CommandDirectory,
    private readonly controlPath: string,
    /** Where it is found while it has a keeper. */
    private readonly attached: Set<Child>,
  ) {}

  /** What is known to be in the logs of stdout and stderr; grows as the keeper tells. */
  get ends(): readonly [number, number] {
    return this.#ends;
  }

  /** Bytes of output that are still kept, as far as is known. */
  get keptBytes(): number {
    return this.#ends[0] - this.#heads[0] + this.#ends[1] - this.#heads[1];
  }

  /** True while its keeper lives: it, or something that it has started, is still there. */
  get isAttached(): boolean {
    return this.#connection !== null;
  }

  /** True once another daemon has its keeper: what becomes of it is then read from its files, and nothing is asked. */
  get isLetGo(): boolean {
    return this.#isLetGo;
  }

  /** Resolves when it has ended and nobody holds its pipes. */
  async closed(): Promise<void> {
    while (!this.end || this.streamsOpen) await this.changed();
  }

  /** Resolves at the next change of anything above, or when the signal aborts. */
  changed(signal?: AbortSignal): Promise<void> {
    if (this.#isLetGo) this.#looking ??= setInterval(() => this.#look(), lookEveryMs);
    return this.#changes.wait(signal);
  }

  /** Asks to be told, through `changed`, of output past the ends known now. */
  watch(): void {
    if (this.#isWatching || !this.#connection || !this.streamsOpen) return;
    this.#isWatching = true;
    this.#send(encodeWatch(...this.#ends));
  }

  /** The same, and what is little of stdout comes along, for `readInto`: nobody then waits for a file. */
  follow(): void {
    if (!knowsFrame(this.#keeperVersion, toKeeper.follow)) {
      this.watch();
      return;
    }
    const isWatching = this.#isWatching && this.#tellsLeft > tellsAtOnce / 2;
    if (isWatching || !this.#connection || !this.streamsOpen) return;
    this.#isWatching = true;
    this.#tellsLeft = tellsAtOnce;
    this.#send(encodeFollow(...this.#ends, maxOutputBytes, tellsAtOnce));
  }

  /** True while the keeper is to tell of whatever comes. */
  get isWatched(): boolean {
    return this.#isWatching;
  }

  /** Looks at the logs themselves: while nobody watches, the keeper tells nothing of what it writes. */
  refresh(): void {
    // At the end of both streams the keeper has told the last of them.
    const mayGrow = this.#isLetGo || (this.#connection !== null && this.streamsOpen);
    if (mayGrow) this.#ends = maxEnds(this.#ends, this.directory.storedEnds());
  }

  /** The same for what was given up at the other end; costs a look at the journal. */
  refreshKept(): void {
    if (!this.#connection) return;
    this.refresh();
    this.#heads = maxEnds(this.#heads, this.directory.heads());
  }

  log(stream: StreamName): ByteLog {
    return this.directory.log(stream);
  }

  /** The piece of stdout at this offset, as `log` reads it. */
  readInto(buffer: Uint8Array, offset: number): Piece | null {
    const news = this.#news;
    const at = news ? offset - news.from : 0;
    if (!news || at < 0 || at >= news.bytes.length) return this.log('stdout').readInto(buffer, offset);
    const piece = news.bytes.subarray(at, at + buffer.length);
    buffer.set(piece);
    return { kind: 'bytes', offset, bytes: buffer.subarray(0, piece.length) };
  }

  arrivals(from: number, limit: number): ArrivalRun[] {
    return this.directory.arrivals(from, limit);
  }

  /** Sends one signal; null when the command has ended. */
  signal(signal: number, scope: keyof typeof signalScope): Promise<Signalled | null> {
    return this.#ask(encodeSignal(signal, signalScope[scope]), this.#signalled);
  }

  /** The pids of every living descendant; empty when the keeper has gone. */
  async tree(): Promise<readonly number[]> {
    return (await this.#ask(encodeFrame(toKeeper.tree), this.#trees)) ?? [];
  }

  /** TERM to the whole tree, KILL after the grace, until nobody is left. */
  terminate(graceMs: number): void {
    this.#send(encodeTerminate(graceMs, 'signal'));
  }

  /**
   * Writes bytes whose first one has the position `offset` in the whole of stdin; what was accepted
   * before is skipped. Resolves with the accepted end once all is taken, stdin is closed, or the wait is aborted.
   */
  async writeStdin(offset: number, bytes: Uint8Array, signal?: AbortSignal): Promise<number> {
    const end = offset + bytes.length;
    const goesOn = () => this.stdin.accepted < end && this.stdin.isOpen && !signal?.aborted;
    while (goesOn()) {
      const before = this.stdin;
      const connection = this.#connection;
      const from = Math.max(offset, before.accepted);
      this.#send(encodeStdin(from, bytes.subarray(from - offset, from - offset + stdinChunkBytes)));
      // What a connection has not brought is lost with it. Else the keeper takes bytes, now or when the command has
      // read some of what it holds; it tells of both, and both may be told before anybody here looks.
      const isWaited = () =>
        this.#connection === connection &&
        this.stdin.accepted === before.accepted &&
        this.stdin.written === before.written;
      while (isWaited() && goesOn()) await this.changed(signal);
    }
    return this.stdin.accepted;
  }

  /** Closes stdin once everything up to `offset` was written. */
  closeStdin(offset: number): void {
    this.#send(encodeEof(offset));
  }

  /** Of its terminal; the foreground job is told with SIGWINCH. */
  resize(rows: number, cols: number): void {
    this.#send(encodeResize(rows, cols));
  }

  /** Its output is left where it is, so that it waits once the kernel holds no more. Holds beyond this daemon. */
  pause(): void {
    this.#send(encodeFrame(toKeeper.pause));
  }

  resume(): void {
    this.#send(encodeFrame(toKeeper.resume));
  }

  /** What each stream may keep from now on; what it holds beyond that goes at once. A keeper of version 1 keeps its first cap. */
  cap(bytes: number): void {
    this.#send(encodeCap(bytes));
  }

  /** Drops the record of it. What still runs goes on, its output unread; whoever waits for it is let go. */
  forget(): void {
    if (this.#isLetGo) return; // It is somebody else's.
    this.#isForgotten = true;
    this.#send(encodeFrame(toKeeper.release));
    if (this.isAttached) this.directory.remove();
    else this.directory.retire();
    this.#disconnect();
    this.end ??= { kind: 'lost', atMs: Date.now() };
    this.streamsOpen = false;
    this.#closeInput();
    this.#changes.notify();
  }

  /** Takes over a fresh connection, which SPAWN is sent on. */
  adopt(connection: KeeperConnection): void {
    this.#connection = connection;
    this.attached.add(this);
  }

  /** Connects to the keeper of a command started earlier; what it missed comes with the STATUS frame. */
  async attach(): Promise<void> {
    const connection = await KeeperConnection.open(this.controlPath);
    if (this.#isLetGo) {
      connection.close();
      return;
    }
    connection.tell(this);
    this.adopt(connection);
    this.#isWatching = false;
  }

  /** Leaves its keeper to another daemon. Whoever waits here for output or the end goes on waiting. */
  letGo(): void {
    this.#isLetGo = true;
    this.#disconnect();
    this.stdin = { ...this.stdin, isOpen: false };
    this.#changes.notify();
  }

  /** The other daemon has gone before it did anything with it. */
  async takeBack(): Promise<void> {
    this.#isLetGo = false;
    await this.attach().catch(() => this.settleFromJournal());
  }

  /** Reads the end from the journal: the keeper has gone. */
  settleFromJournal(): void {
    const journal = this.directory.journal();
    this.attached.delete(this);
    this.pid = journal?.pid ?? this.pid;
    this.startedMs = journal?.startedMs ?? this.startedMs;
    this.end ??= endFromJournal(journal, this.directory.lastWriteMs());
    this.streamsOpen = false;
    this.#closeInput();
    this.#ends = this.end.kind === 'lost' ? this.directory.storedEnds() : maxEnds(this.#ends, journal?.end ?? [0, 0]);
    this.#heads = maxEnds(this.#heads, journal?.head ?? [0, 0]);
    this.#changes.notify();
  }

  /** Records that it never ran. */
  fail(stage: FailureStage, errno: number): void {
    this.end = failedEnd(stage, errno, Date.now());
    this.streamsOpen = false;
    this.#changes.notify();
  }

  onFrame(type: number, payload: Buffer): void {
    switch (type) {
      case fromKeeper.status:
      case fromKeeper.spawned:
      case fromKeeper.exited:
      case fromKeeper.closed:
        this.#onStatus(decodeStatus(payload));
        break;
      case fromKeeper.failed:
        this.fail(failureStages[payload.readUInt32LE(0) - 1] ?? 'protocol', payload.readUInt32LE(4));
        break;
      case fromKeeper.data:
        this.#isWatching = false;
        this.#ends = maxEnds(this.#ends, [readUint64(payload, 0), readUint64(payload, 8)]);
        break;
      case fromKeeper.output:
        this.#onOutput(payload);
        break;
      case fromKeeper.stdin:
        this.stdin = { ...this.stdin, accepted: readUint64(payload, 0), written: readUint64(payload, 8) };
        break;
      case fromKeeper.signalled:
        this.#signalled.shift()?.({ processes: payload.readUInt32LE(0), errno: payload.readUInt32LE(4) });
        break;
      case fromKeeper.tree:
        this.#trees.shift()?.(decodePids(payload));
        break;
      default:
        return; // A newer keeper may say more than this daemon asks.
    }
    this.#changes.notify();
  }

  onClose(): void {
    const isOver = this.#isForgotten || this.end?.kind === 'failed' || (this.end !== null && !this.streamsOpen);
    if (isOver) this.#closeInput();
    this.#disconnect();
    this.#changes.notify();
    if (isOver) return;
    // Either the keeper has gone, or it dropped a reader that was too slow: asking it again tells.
    this.attached.add(this);
    this.attach().catch(() => this.settleFromJournal());
  }

  /** The keeper's last word may have left it open: whoever still writes would wait for an answer that never comes. */
  #closeInput(): void {
    this.stdin = { ...this.stdin, isOpen: false };
  }

  #disconnect(): void {
    this.#connection?.close();
    this.#connection = null;
    this.attached.delete(this);
    this.#isWatching = false;
    this.#signalled.splice(0).forEach((answer) => answer({ processes: 0, errno: 0 }));
    this.#trees.splice(0).forEach((answer) => answer([]));
  }

  /** What the keeper would have told, found in the files. */
  #look(): void {
    if (!this.#isLetGo || this.#changes.waiting === 0) {
      if (this.#looking) clearInterval(this.#looking);
      this.#looking = null;
      return;
    }
    const before = [this.#ends[0] + this.#ends[1], this.end, this.streamsOpen];
    this.refresh();
    // Looked at first: what a keeper wrote before it went is then in the journal.
    const hasKeeper = existsSync(`/proc/${this.#keeperPid}`);
    const journal = this.directory.journal();
    if (!hasKeeper) this.settleFromJournal();
    else if (journal?.exit || journal?.failure) this.end ??= endFromJournal(journal, this.directory.lastWriteMs());
    if (journal?.isClosed) this.streamsOpen = false;
    const after = [this.#ends[0] + this.#ends[1], this.end, this.streamsOpen];
    if (after.some((value, index) => value !== before[index])) this.#changes.notify();
  }

  #onOutput(payload: Buffer): void {
    const end = readUint64(payload, 0);
    // Copied, because a small piece of a larger buffer would keep all of that.
    const bytes = new Uint8Array(payload.subarray(outputHeaderBytes));
    this.#tellsLeft -= 1;
    this.#isWatching = bytes.length > 0 && bytes.length <= littleOutputBytes && this.#tellsLeft > 0;
    this.#news = { from: end - bytes.length, bytes };
    this.#ends = maxEnds(this.#ends, [end, readUint64(payload, 8)]);
    this.stdin = { ...this.stdin, accepted: readUint64(payload, 16), written: readUint64(payload, 24) };
  }

  #onStatus(status: KeeperStatus): void {
    this.#keeperVersion = status.version;
    this.#keeperPid = status.keeperPid;
    this.pid = status.pid;
    this.startedMs = status.startedMs;
    this.#ends = maxEnds(this.#ends, status.end);
    this.#heads = maxEnds(this.#heads, status.head);
    this.streamsOpen = (status.flags & statusFlag.closed) === 0;
    this.stdin = {
      accepted: status.stdinAccepted,
      written: status.stdinWritten,
      isOpen: (status.flags & statusFlag.stdinOpen) !== 0,
    };
    if ((status.flags & statusFlag.exited) === 0 || this.end) return;
    this.end = {
      kind: 'exited',
      exitCode: status.signal === 0 ? status.exitCode : null,
      signal: status.signal,
      cause: status.cause,
      oomKilled: status.oomKilled,
      atMs: status.exitedMs,
    };
  }

  /** Null when the keeper has gone, or does not answer: its account can stop it. */
  async #ask<Answer>(frame: Buffer, queue: ((answer: Answer) => void)[]): Promise<Answer | null> {
    if (!this.#connection) return null;
    using deadline = new Deadline(answerMs);
    return await new Promise<Answer | null>((resolve) => {
      queue.push(resolve); // A late answer takes its own place in the queue, and nobody hears it.
      deadline.signal.addEventListener('abort', () => resolve(null), { once: true });
      this.#send(frame);
    });
  }

  /** What the keeper is too old to know is left out: it would end the connection over it. */
  #send(frame: Buffer): void {
    if (knowsFrame(this.#keeperVersion, frameType(frame))) this.#connection?.send(frame);
  }
}

function endFromJournal(journal: JournalEnd | null, lastWriteMs: number): ChildEnd {
  if (journal?.exit) {
    const { exitCode, signal, cause, oomKilled, exitedMs } = journal.exit;
    return { kind: 'exited', exitCode: signal === 0 ? exitCode : null, signal, cause, oomKilled, atMs: exitedMs };
  }
  if (journal?.failure) return failedEnd(journal.failure.stage, journal.failure.errno, lastWriteMs);
  return { kind: 'lost', atMs: lastWriteMs };
}

function failedEnd(stage: FailureStage, errno: number, atMs: number): ChildEnd {
  const [errnoName, message] = getSystemErrorMap().get(-errno) ?? [`E${errno}`, 'unknown error'];
  return { kind: 'failed', stage, errno, errnoName, message, atMs };
}

function maxEnds(known: readonly [number, number], told: readonly [number, number]): readonly [number, number] {
  return [Math.max(known[0], told[0]), Math.max(known[1], told[1])];
}

function decodePids(payload: Buffer): number[] {
  const count = Math.min(payload.readUInt32LE(0), (payload.length >> 2) - 1);
  return Array.from({ length: count }, (_, index) => payload.readUInt32LE(4 + index * 4));
}
