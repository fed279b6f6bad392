/** Somebody at a terminal: is shown what it shows, exactly and at their own pace, from any place on. */
import { Deadline } from '../../kit/deadline.ts';
import { Notifier } from '../../kit/notifier.ts';
import { Slices } from '../../kit/slices.ts';
import type { ChildEnd } from '../../platform/spawn.ts';
import { pieceBytes, type Attaching } from './attaching.ts';
import type { Terminal } from './terminal.ts';

/** Where the output goes. */
export interface Viewer {
  /** The bytes hold for this call; answers how many of them were taken. `isLast`: what follows is not their rest. */
  show(bytes: Uint8Array, offset: number, isLast: boolean): number;
  gap(from: number, to: number): void;
  /** The size may have changed. */
  resized(): void;
  /** Bytes that the other side has not taken yet. */
  readonly bufferedBytes: number;
  drained(signal: AbortSignal): Promise<void>;
}

export interface AttachmentOptions {
  readonly from: number;
  /** Nothing is to be lost on the way to them: the terminal waits. */
  readonly isWriter: boolean;
  /** The place is remembered for the next one who comes. */
  readonly isDurable: boolean;
  /** The viewer has gone, or the daemon is going. */
  readonly signal: AbortSignal;
}

export type Detachment =
  | { readonly kind: 'ended'; readonly end: ChildEnd | null }
  /** It is far behind, and takes nothing. */
  | { readonly kind: 'stalled' }
  | { readonly kind: 'stopped' };

/** Whoever is further behind what a program has printed is waited for, or has to keep moving. */
const mostBehindBytes = 1024 * 1024;
const nearBytes = 256 * 1024;
/** For somebody who says what has arrived: so much may be on its way. */
const mostUnackedBytes = 1024 * 1024;
/** Without taking a byte, of a writer and of a viewer. */
const writerStallMs = 10_000;
const viewerStallMs = 3000;
const lookMs = 250;

/** Where somebody begins: at a place they know, at what no durable one was shown, or now. */
export function startOf(terminal: Terminal, offset: number | null, isDurable: boolean): number {
  const now = terminal.log.refresh();
  return Math.min(now, offset ?? (isDurable ? (terminal.record.relayed ?? 0) : now));
}

export class Attachment {
  #offset: number;
  /** All before it has left this daemon. */
  #taken: number;
  /** What the other side says has arrived; null until it says so. */
  #acked: number | null = null;
  readonly #acks = new Notifier();
  /** What was shown last was all there was. */
  #isNear = false;

  constructor(
    private readonly terminal: Terminal,
    private readonly attaching: Attaching,
    private readonly viewer: Viewer,
    private readonly options: AttachmentOptions,
  ) {
    this.#offset = this.#taken = options.from;
  }

  /** What is shown next. */
  get offset(): number {
    return this.#offset;
  }

  /** All before it has left this daemon. */
  get taken(): number {
    return this.#taken;
  }

  /** What was sent has arrived up to here; tells nothing of pace. */
  confirm(offset: number): void {
    if (this.#acked === null) this.#remember(offset);
  }

  /** The same, from somebody who wants to be sent no more than they can take. */
  ack(offset: number): void {
    this.#acked = Math.max(this.#acked ?? 0, Math.min(offset, this.#offset));
    this.#remember(this.#acked);
    this.#acks.notify();
  }

  /** They have gone of their own will: what has left this daemon has arrived, unless they say otherwise. */
  leave(): void {
    if (this.#acked === null) this.#remember(this.#taken);
  }

  /** Shows everything up to the end, or until it is over for this one. */
  async run(): Promise<Detachment> {
    const { terminal } = this;
    using files = terminal.log.use();
    void files;
    terminal.attached += 1;
    terminal.touch();
    this.#remember(0); // Somebody was here, however soon they go.
    try {
      return await this.#follow(this.options.signal);
    } finally {
      terminal.attached -= 1;
      terminal.touch();
      terminal.holds.release(this);
    }
  }

  async #follow(stop: AbortSignal): Promise<Detachment> {
    const { terminal, attaching } = this;
    const slices = new Slices();
    for (;;) {
      if (stop.aborted) return { kind: 'stopped' };
      // Looked at before the log is: what was written before the end is then read before it is told.
      const { isOver } = terminal;
      const hasMoved = !attaching.isHeld && this.#showNext(isOver);
      // The next daemon ends what lives as long as its socket, and whoever is here is told of the next daemon instead.
      if (!hasMoved && isOver && !attaching.isHeld) return { kind: 'ended', end: terminal.end };
      if (!hasMoved) await this.#more(stop);
      else if (!(await this.#paced(stop))) return { kind: 'stalled' };
      await slices.next();
    }
  }

  async #more(stop: AbortSignal): Promise<void> {
    const { log, holds } = this.terminal;
    holds.release(this);
    log.watch();
    await log.changed(stop);
    this.viewer.resized();
  }

  /** False when there is nothing to show yet. */
  #showNext(isOver: boolean): boolean {
    const { log } = this.terminal;
    // Most changes are no output: the file is not looked at for them.
    if (!isOver && log.end <= this.#offset) return false;
    const piece = log.readInto(this.attaching.memory, this.#offset);
    if (!piece) return isOver && this.#skipTo(log.end);
    if (piece.kind === 'gap') return this.#skipTo(piece.to);
    const { bytes, offset } = piece;
    this.#isNear = bytes.length < pieceBytes;
    const taken = this.viewer.show(bytes, offset, false);
    if (taken > 0) return this.#sent(offset + taken);
    // The rest of a character is still to come, unless nothing follows it.
    const follows = log.readInto(this.attaching.memory.subarray(bytes.length, bytes.length + 1), offset + bytes.length);
    if (!(follows?.kind === 'gap' || (isOver && follows === null))) return false;
    return this.#sent(offset + this.viewer.show(bytes, offset, true));
  }

  #sent(offset: number): boolean {
    this.#offset = offset;
    if (this.viewer.bufferedBytes === 0) this.#taken = offset;
    return true;
  }

  /** What was there and is not any more. */
  #skipTo(to: number): boolean {
    if (to <= this.#offset) return false;
    this.#isNear = false;
    this.viewer.gap(this.#offset, to);
    return this.#sent(to);
  }

  /** Waits for the other side to take what it was sent; false when it does not. */
  async #paced(stop: AbortSignal): Promise<boolean> {
    const { viewer, options } = this;
    if (!this.#isNear || this.#isFull) this.#holdIfBehind();
    const stallMs = options.isWriter ? writerStallMs : viewerStallMs;
    let movedMs = performance.now();
    let left = this.#unsettled;
    while (this.#isFull && !stop.aborted) {
      using look = new Deadline(lookMs, stop);
      await (viewer.bufferedBytes > 0 ? viewer.drained(look.signal) : this.#acks.wait(look.signal));
      if (this.#unsettled !== left) movedMs = performance.now();
      left = this.#unsettled;
      if (this.#holdIfBehind() && performance.now() - movedMs > stallMs) return false;
    }
    if (viewer.bufferedBytes === 0) this.#taken = this.#offset;
    return true;
  }

  get #isFull(): boolean {
    return this.viewer.bufferedBytes > 0 || this.#unacked > mostUnackedBytes;
  }

  get #unacked(): number {
    return this.#acked === null ? 0 : this.#offset - this.#acked;
  }

  /** Changes with every sign of life. */
  get #unsettled(): number {
    return this.viewer.bufferedBytes + this.#unacked;
  }

  /** True when it is far behind, or has been and holds the program up until it is near again. */
  #holdIfBehind(): boolean {
    const { terminal, options } = this;
    const behind = terminal.log.refresh() - this.#offset;
    if (options.isWriter && behind > mostBehindBytes) terminal.holds.hold(this);
    if (behind < nearBytes) terminal.holds.release(this);
    return behind > mostBehindBytes || terminal.holds.has(this);
  }

  #remember(offset: number): void {
    if (!this.options.isDurable || offset <= (this.terminal.record.relayed ?? -1)) return;
    this.terminal.record.relayed = offset;
    this.attaching.keep();
  }
}
