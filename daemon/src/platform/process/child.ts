/** One command as the daemon sees it: a live keeper first, and after that the files in its directory. */
import { constants } from 'node:os';
import type { ByteLog, Piece } from '../../kit/byte-log.ts';
import { errnoOf, isOutOfDescriptors, nullWithoutDescriptor } from '../../kit/errno.ts';
import type { Ownership } from '../../kit/ownership.ts';
import type { StreamName } from '../../kit/types/stream-name.ts';
import type { ChildEnd } from './child-end.ts';
import { ChildState, type StdinState, type StreamOffsets } from './child-state.ts';
import type { ArrivalRun, CommandDirectory } from './command-directory.ts';
import { JournalReader } from './journal-reader.ts';
import { KeeperConnection } from './keeper-connection.ts';
import { KeeperLink, type Signalled } from './keeper-link.ts';
import {
  encodeCap,
  encodeEof,
  encodeFrame,
  encodeResize,
  encodeTerminate,
  type signalScope,
  toKeeper,
  type FailureStage,
} from './keeper-protocol.ts';
import { orphansOf, signalOrphan, type Orphan } from './orphans.ts';
import { writeStdin } from './stdin-writer.ts';

const retryMs = 100;

export class Child {
  readonly #state = new ChildState();
  readonly #files: JournalReader;
  /** null without a keeper. */
  #link: KeeperLink | null = null;
  #isForgotten = false;
  /** Where stdin ends, once a caller has closed it. */
  #endOfStdin: number | null = null;
  /** The keeper has reported that it removed its own file of the command, which is over. */
  #hasKeeperLeft = false;

  constructor(
    readonly directory: CommandDirectory,
    private readonly controlPath: string,
    /** The set that holds this child while the child has a keeper. */
    private readonly attached: Set<Child>,
    /** Once the keepers are left to another daemon, this daemon reads progress from the files and asks nothing. */
    readonly ownership: Ownership,
  ) {
    this.#files = new JournalReader(directory, this.#state);
  }

  get pid(): number {
    return this.#state.pid;
  }

  get startedMs(): number {
    return this.#state.startedMs;
  }

  get end(): ChildEnd | null {
    return this.#state.end;
  }

  /** True while a process holds an output pipe open. */
  get streamsOpen(): boolean {
    return this.#state.streamsOpen;
  }

  get stdin(): StdinState {
    return this.#state.stdin;
  }

  /** Where a caller has closed stdin; null while it is open, and in a daemon that was started later. */
  get stdinEnd(): number | null {
    return this.#endOfStdin;
  }

  /** The known ends of the logs of stdout and stderr; they grow with the reports of the keeper. */
  get ends(): StreamOffsets {
    return this.#state.ends;
  }

  /** Bytes of output that are still retained, as far as the daemon knows. */
  get keptBytes(): number {
    const { ends, heads } = this.#state;
    return ends[0] - heads[0] + ends[1] - heads[1];
  }

  /** True while the keeper lives: the command, or a process that it started, still exists. */
  get isAttached(): boolean {
    return this.#link !== null;
  }

  /** Protocol version of the keeper; the oldest version until the keeper has reported its own. */
  get keeperVersion(): number {
    return this.#state.keeperVersion;
  }

  /** Resolves when the command has ended and no process holds its pipes. */
  async closed(): Promise<void> {
    while (!this.#state.isOver) await this.changed();
  }

  /** Resolves at the next change of the state above, or when the signal aborts. */
  changed(signal?: AbortSignal): Promise<void> {
    this.#pollIfLeft();
    return this.#state.changes.wait(signal);
  }

  /** Calls the listener at every change, until the result is disposed of. Ask for output with `watch` or `follow`. */
  onChange(listener: () => void): Disposable {
    return this.#state.changes.listen(listener);
  }

  /** Asks the keeper to report, through `changed`, output past the ends known now. */
  watch(): void {
    this.#link?.watch();
  }

  /**
   * Like `watch`, but small pieces of stdout arrive in the report, for `readInto`. The reader then needs no file
   * access.
   */
  follow(): void {
    this.#pollIfLeft();
    this.#link?.follow();
  }

  /** Reports that stdout is read up to this offset, for a command that waits for its reader. Watches, too. */
  consume(offset: number): void {
    this.#link?.consume(offset);
  }

  /** True while the keeper has a standing request to report new output. */
  get isWatched(): boolean {
    return this.#link?.isWatching === true;
  }

  /** Reads the ends from the logs themselves: without a watch, the keeper does not report new output. */
  refresh(): void {
    // When both streams have ended, their final ends are known.
    if ((this.#link || this.ownership.isLeft) && this.streamsOpen) this.#files.readEnds();
  }

  /** Like `refresh`, and also updates where the retained output starts. Costs one read of the journal. */
  refreshKept(): void {
    if (!this.#link) return;
    this.refresh();
    this.#files.readHeads();
  }

  log(stream: StreamName): ByteLog {
    return this.directory.log(stream);
  }

  /** The piece of stdout at this offset, with the same result as a read from `log`. */
  readInto(buffer: Uint8Array, offset: number): Piece | null {
    const { news } = this.#state;
    const at = news ? offset - news.from : 0;
    // After a refresh, or after a handover, the log has more than the latest report.
    const isLatest = news !== null && news.from + news.bytes.length === this.ends[0];
    if (!isLatest || at < 0 || at >= news.bytes.length) return this.log('stdout').readInto(buffer, offset);
    const piece = news.bytes.subarray(at, at + buffer.length);
    buffer.set(piece);
    return { kind: 'bytes', offset, bytes: buffer.subarray(0, piece.length) };
  }

  arrivals(from: number, limit: number): ArrivalRun[] {
    return this.directory.arrivals(from, limit);
  }

  /** Sends one signal; null when the command has ended. */
  async signal(signal: number, scope: keyof typeof signalScope): Promise<Signalled | null> {
    if (this.end?.kind === 'lost') return scope === 'tree' ? signalAll(this.#orphans, signal) : null;
    return (await this.#link?.signal(signal, scope)) ?? null;
  }

  /**
   * The pids of all living descendants. Without a keeper, the processes that are still in the session of the command.
   */
  async tree(): Promise<readonly number[]> {
    if (this.end?.kind === 'lost') return this.#orphans.map(({ pid }) => pid);
    return (await this.#link?.tree()) ?? [];
  }

  /** Sends TERM to the whole tree, then KILL after the grace period, until no process is left. */
  terminate(graceMs: number): void {
    this.#link?.send(encodeTerminate(graceMs, 'signal'));
  }

  /**
   * Writes bytes whose first byte has the position `offset` in the whole of stdin. Bytes that the keeper accepted
   * before are skipped.
   * Resolves with the accepted end when the keeper has accepted all bytes, stdin is closed, or the signal aborts.
   */
  writeStdin(offset: number, bytes: Uint8Array, signal?: AbortSignal): Promise<number> {
    return writeStdin({ state: this.#state, link: () => this.#link }, offset, bytes, signal);
  }

  /** Closes stdin once all bytes up to `offset` are written. */
  closeStdin(offset: number): void {
    this.#endOfStdin = offset;
    this.#link?.send(encodeEof(offset));
  }

  /** Resizes the terminal; the foreground job receives SIGWINCH. */
  resize(rows: number, cols: number): void {
    this.#link?.send(encodeResize(rows, cols));
  }

  /**
   * Stops reading the output, so that the command blocks when the kernel's buffer is full. The pause outlives this
   * daemon.
   */
  pause(): void {
    this.#link?.send(encodeFrame(toKeeper.pause));
  }

  resume(): void {
    this.#link?.send(encodeFrame(toKeeper.resume));
  }

  /**
   * Sets how much output each stream retains; the excess is dropped at once. A keeper of version 1 keeps its first cap.
   */
  cap(bytes: number): void {
    this.#link?.send(encodeCap(bytes));
  }

  /**
   * Drops the record of the command. Running processes continue with their output unread, and pending waits are
   * released.
   */
  forget(): void {
    if (this.ownership.isLeft) return;
    this.#isForgotten = true;
    this.#link?.send(encodeFrame(toKeeper.release));
    if (this.isAttached) this.directory.remove();
    else this.directory.retire(this.#hasKeeperLeft && this.ends[0] + this.ends[1] === 0);
    this.#disconnect();
    this.#state.forget();
  }

  /**
   * Takes over a connection, on which the caller sends SPAWN.
   * `onFree` is called when the keeper can hold another command; the connection then belongs to the caller again.
   */
  adopt(connection: KeeperConnection, onFree: (() => void) | null = null): void {
    this.#link = new KeeperLink(connection, this.#state, () => this.#leave(onFree));
    this.attached.add(this);
    // The keeper may have dropped the earlier connection before it read this.
    if (this.#endOfStdin !== null) this.#link.send(encodeEof(this.#endOfStdin));
  }

  /** Connects to the keeper of a command started earlier. The STATUS frame brings the child up to date. */
  async attach(): Promise<void> {
    const connection = await KeeperConnection.open(this.controlPath);
    if (this.ownership.isLeft) {
      connection.close();
      return;
    }
    connection.tell(this);
    this.adopt(connection);
  }

  /** Leaves the keeper to another daemon. Pending waits for output or for the end continue here. */
  release(): void {
    this.#disconnect();
    this.#state.closeInput();
    this.#state.changes.notify();
  }

  /**
   * Attaches again, after the other daemon went away. Resolves with the first STATUS, because until then stdin counts as
   * closed; a keeper that is stopped sends it later.
   */
  async reattach(signal: AbortSignal): Promise<void> {
    this.#files.stopPolling();
    const reported = this.changed(signal);
    if (await this.#attachOrSettle()) await reported;
  }

  /** False when the keeper has gone. Only a free descriptor shows whether it has, so the call waits for one. */
  async #attachOrSettle(): Promise<boolean> {
    while (!this.#isForgotten) {
      try {
        await this.attach();
        return true;
      } catch (error) {
        if (!isOutOfDescriptors(errnoOf(error)) && nullWithoutDescriptor(() => this.settleFromJournal()) !== null)
          return false;
        await Bun.sleep(retryMs);
      }
    }
    return false;
  }

  /** Reads the end of the command from the journal, because the keeper has gone. */
  settleFromJournal(): void {
    this.attached.delete(this);
    this.#files.settle();
  }

  /** Records that the command never ran. */
  fail(stage: FailureStage, errno: number): void {
    this.#state.fail(stage, errno);
  }

  onFrame(type: number, payload: Buffer): void {
    this.#link?.onFrame(type, payload);
  }

  onClose(): void {
    const isOver = this.#isForgotten || this.end?.kind === 'failed' || this.#state.isOver;
    if (isOver) this.#state.closeInput();
    this.#disconnect();
    this.#state.changes.notify();
    if (isOver) return;
    // Either the keeper has gone, or it dropped this connection because the daemon read too slowly. A new attach shows
    // which.
    this.attached.add(this);
    void this.#attachOrSettle();
  }

  #pollIfLeft(): void {
    if (this.ownership.isLeft && !this.#state.isOver) this.#files.startPolling();
  }

  /** The command has ended, and the keeper has removed everything of it. */
  #leave(onFree: (() => void) | null): void {
    const link = this.#link;
    this.#link = null;
    this.#hasKeeperLeft = true;
    this.attached.delete(this);
    this.#state.closeInput();
    if (onFree) link?.leave();
    else link?.close();
    onFree?.();
  }

  get #orphans(): Orphan[] {
    const { pid, startedMs, end } = this;
    return end === null ? [] : orphansOf({ leader: pid, startedMs, lostMs: end.atMs });
  }

  #disconnect(): void {
    const link = this.#link;
    this.#link = null;
    this.attached.delete(this);
    link?.close();
  }
}

function signalAll(orphans: readonly Orphan[], signal: number): Signalled {
  const errors = orphans.map((orphan) => signalOrphan(orphan, signal));
  const processes = errors.filter((error) => error === null).length;
  return { processes, errno: errors.includes('EPERM') ? constants.errno.EPERM : 0 };
}
