/** Sends the exact output of a terminal to one client, from any offset and at the client's pace. */
import { Deadline } from '../../../kit/deadline.ts';
import { Notifier } from '../../../kit/events/notifier.ts';
import { TimeSlices } from '../../../kit/slices.ts';
import type { ChildEnd } from '../../../platform/process/spawn.ts';
import { pieceBytes, type AttachedClients, type Confirming } from './clients.ts';
import type { Terminal } from '../session/terminal.ts';

export interface Channel {
  /** Bytes that the client has not received yet. */
  readonly bufferedBytes: number;
  /** Resolves when the client has received everything, or when the signal aborts. */
  drained(signal: AbortSignal): Promise<void>;
  /** The client answers with the same text, after it has received everything before. */
  ping(text: string): void;
}

/** Receives the output. */
export interface Viewer {
  /**
   * The bytes are valid during this call only. Returns how many of them were taken. `isLast` means that the bytes after
   * them do not complete their last character.
   */
  show(bytes: Uint8Array, offset: number, isLast: boolean): number;
  gap(from: number, to: number): void;
  /** The terminal size may have changed. */
  resized(): void;
  readonly channel: Channel;
  /** Asks the client how much has arrived. The answer goes to `confirm`. */
  ask(): void;
}

export interface AttachmentOptions {
  readonly from: number;
  /** The program is paused for a writer that is far behind but keeps taking output. */
  readonly isWriter: boolean;
  /** The offset is saved, so that the next durable client continues there. */
  readonly isDurable: boolean;
  /** Aborted when the client disconnects or the daemon shuts down. */
  readonly signal: AbortSignal;
}

export type Detachment =
  | { readonly kind: 'ended'; readonly end: ChildEnd | null }
  /** The client is far behind and takes nothing. */
  | { readonly kind: 'stalled' }
  | { readonly kind: 'stopped' };

/** A client that is further behind the program's output than this pauses the program, or has to make progress. */
const maxBehindBytes = 1024 * 1024;
const nearBytes = 256 * 1024;
/** For a client that acknowledges output: the limit of unacknowledged bytes. */
const maxUnackedBytes = 1024 * 1024;
/** The longest pause of the program for a writer that takes nothing. */
const holdMs = 900;
/** A socket that is far behind is dropped if it takes nothing for this long. */
const stallMs = 3000;
const lookMs = 100;

/** The requested offset, or the end of what durable clients were shown, or the current end. */
export function startOf(terminal: Terminal, offset: number | null, isDurable: boolean): number {
  const now = terminal.log.refresh();
  return Math.min(now, offset ?? (isDurable ? (terminal.record.relayed ?? 0) : now));
}

export class Attachment implements Confirming {
  #offset: number;
  /** Everything before this offset has left the daemon. */
  #taken: number;
  #confirmed: number;
  /** The offset up to which the client acknowledged output; null until its first acknowledgement. */
  #acked: number | null = null;
  readonly #acks = new Notifier();
  /** True if the last piece reached the end of the log. */
  #isNear = false;

  constructor(
    private readonly terminal: Terminal,
    private readonly clients: AttachedClients,
    private readonly viewer: Viewer,
    private readonly options: AttachmentOptions,
  ) {
    this.#offset = this.#taken = this.#confirmed = options.from;
  }

  /** The offset of the next byte to show. */
  get offset(): number {
    return this.#offset;
  }

  /** Records that the output up to this offset has arrived. Does not affect pacing. */
  confirm(offset: number): void {
    this.#confirmed = Math.max(this.#confirmed, offset);
    this.#acks.notify();
    if (this.#acked === null) this.#remember(offset);
  }

  async allConfirmed(signal: AbortSignal): Promise<void> {
    if (this.#acked !== null) return; // The client sends acknowledgements on its own.
    if (this.#confirmed < this.#offset) this.viewer.ask();
    while (this.#confirmed < this.#offset && !signal.aborted && !this.options.signal.aborted) {
      await this.#acks.wait(signal);
    }
  }

  /** Like `confirm`, from a client that limits how many bytes are in flight. */
  ack(offset: number): void {
    this.#acked = Math.max(this.#acked ?? 0, Math.min(offset, this.#offset));
    this.#remember(this.#acked);
    this.#acks.notify();
  }

  /** Everything that left the daemon counts as arrived, unless the client sends acknowledgements. */
  leave(): void {
    if (this.#acked === null) this.#remember(this.#taken);
  }

  /** Sends the output until the session ends, or until the attachment does. */
  async run(): Promise<Detachment> {
    const { terminal } = this;
    using files = terminal.log.use();
    void files;
    using durable = this.options.isDurable ? this.clients.add(this) : null;
    void durable;
    using attached = terminal.attach();
    void attached;
    this.#remember(0); // Records the visit even if the client detaches at once.
    try {
      return await this.#follow(this.options.signal);
    } finally {
      terminal.backpressure.release(this);
    }
  }

  async #follow(stop: AbortSignal): Promise<Detachment> {
    const { terminal, clients } = this;
    const slices = new TimeSlices();
    for (;;) {
      if (stop.aborted) return { kind: 'stopped' };
      // Checked before the log is read, so that output written before the end is sent before the end is reported.
      const { isOver } = terminal;
      const hasMoved = !clients.isHeld && this.#showNext(isOver);
      // During a handover, the next daemon reports the end. This daemon asks its clients to reconnect.
      if (!hasMoved && isOver && !clients.isHeld) return { kind: 'ended', end: terminal.end };
      if (!hasMoved) await this.#more(stop);
      else if (!(await this.#paced(stop))) return { kind: 'stalled' };
      await slices.next();
    }
  }

  async #more(stop: AbortSignal): Promise<void> {
    const { log, backpressure } = this.terminal;
    backpressure.release(this);
    log.watch();
    this.viewer.resized(); // Before the wait, because the size may have changed while output was sent.
    await log.changed(stop);
  }

  /** Returns false if there is nothing to show yet. */
  #showNext(isOver: boolean): boolean {
    const { log } = this.terminal;
    // Most changes are not output, so avoid reading the file for them.
    if (!isOver && log.end <= this.#offset) return false;
    const piece = log.readInto(this.clients.memory, this.#offset);
    if (!piece) return isOver && this.#skipTo(log.end);
    if (piece.kind === 'gap') return this.#skipTo(piece.to);
    const { bytes, offset } = piece;
    this.#isNear = bytes.length < pieceBytes;
    const taken = this.viewer.show(bytes, offset, false);
    if (taken > 0) return this.#sent(offset + taken);
    // Wait for the rest of a split character, unless nothing follows it.
    const follows = log.readInto(this.clients.memory.subarray(bytes.length, bytes.length + 1), offset + bytes.length);
    if (!(follows?.kind === 'gap' || (isOver && follows === null))) return false;
    const last = this.viewer.show(bytes, offset, true);
    return last > 0 && this.#sent(offset + last);
  }

  #sent(offset: number): boolean {
    this.#offset = offset;
    if (this.viewer.channel.bufferedBytes === 0) this.#taken = offset;
    return true;
  }

  /** Reports output that is no longer kept as a gap. */
  #skipTo(to: number): boolean {
    if (to <= this.#offset) return false;
    this.#isNear = false;
    this.viewer.gap(this.#offset, to);
    return this.#sent(to);
  }

  /** Waits for the client to take what it was sent; false if the client stalls. */
  async #paced(stop: AbortSignal): Promise<boolean> {
    const { viewer } = this;
    if (!this.#isNear || this.#isFull) this.#holdIfBehind(true);
    let movedMs = performance.now();
    let left = this.#unsettled;
    while (this.#isFull && !stop.aborted) {
      using look = new Deadline(lookMs, stop);
      await (viewer.channel.bufferedBytes > 0 ? viewer.channel.drained(look.signal) : this.#acks.wait(look.signal));
      if (this.#unsettled !== left) movedMs = performance.now();
      left = this.#unsettled;
      const stillMs = performance.now() - movedMs;
      if (this.#holdIfBehind(stillMs < holdMs) && stillMs > stallMs) return false;
    }
    if (viewer.channel.bufferedBytes === 0) this.#taken = this.#offset;
    return true;
  }

  get #isFull(): boolean {
    return this.viewer.channel.bufferedBytes > 0 || this.#unacked > maxUnackedBytes;
  }

  get #unacked(): number {
    return this.#acked === null ? 0 : this.#offset - this.#acked;
  }

  /** Changes whenever the client takes or acknowledges output. */
  get #unsettled(): number {
    return this.viewer.channel.bufferedBytes + this.#unacked;
  }

  /** True while the client is far behind, and while the program is still paused for it. */
  #holdIfBehind(mayHold: boolean): boolean {
    const { terminal, options } = this;
    const behind = terminal.log.refresh() - this.#offset;
    if (options.isWriter && mayHold && behind > maxBehindBytes) terminal.backpressure.hold(this);
    if (!mayHold || behind < nearBytes) terminal.backpressure.release(this);
    return behind > maxBehindBytes || terminal.backpressure.has(this);
  }

  #remember(offset: number): void {
    if (this.options.isDurable) this.terminal.setRelayed(offset);
  }
}
