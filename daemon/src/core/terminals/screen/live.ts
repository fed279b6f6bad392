/** Keeps the emulator of one session up to date on demand, from the log alone. */
import type { EmulatedScreen, Emulator, OpenEmulator } from '../../../platform/terminal/emulator.ts';
import { Sequences } from './sequences.ts';
import { replayBytes, replayStart } from './replay-start.ts';
import { sizeAt, sizesBehind, type SizeChange } from './sizes.ts';
import type { Terminal } from '../session/terminal.ts';

export interface LiveScreenDeps {
  readonly openEmulator: OpenEmulator;
  /** Yields to other work of the daemon. */
  readonly pause: () => Promise<unknown>;
  readonly nowMs: () => number;
}

/** How much the emulator processes at once: the size adapts so that a slice takes a few milliseconds. */
const minSliceBytes = 8 * 1024;
const maxSliceBytes = 128 * 1024;
const quickMs = 2;
const slowMs = 5;
/** A longer incomplete sequence is an image or clipboard data, which no screen shows. */
const maxHeldBytes = 256 * 1024;

export class LiveScreen implements Disposable {
  readonly #buffer = Buffer.allocUnsafe(maxSliceBytes);
  #sliceBytes = minSliceBytes;
  #sequences = new Sequences();
  /** The beginning of an incomplete sequence; null if the sequence is too long to keep. */
  #held: Buffer | null = Buffer.alloc(0);
  /** The emulator shows the output up to this offset. */
  #shownTo = 0;
  #readTo = 0;
  #size: SizeChange | null = null;

  private constructor(
    private readonly terminal: Terminal,
    private readonly emulator: Emulator,
    private readonly deps: LiveScreenDeps,
  ) {}

  /** `keepsText` also keeps the text of rows that have left the scrollback. */
  static async open(
    terminal: Terminal,
    deps: LiveScreenDeps,
    options: { readonly keepsText: boolean } = { keepsText: false },
  ): Promise<LiveScreen> {
    const from = Math.max(terminal.log.head, terminal.log.refresh() - replayBytes, 0);
    const size = sizeAt(terminal.record.sizes ?? [], from);
    const live = new LiveScreen(terminal, await deps.openEmulator(size ?? terminal.size, options), deps);
    live.#size = size;
    return live;
  }

  /** Processes the output that is in the log now. Output that arrives meanwhile is left to the next call. */
  async catchUp(): Promise<void> {
    const { log } = this.terminal;
    using _open = log.use();
    const end = log.refresh();
    if (end - this.#readTo > replayBytes) await this.#jump(end - replayBytes);
    while (this.#readTo < end) {
      this.#applySizes();
      const room = Math.min(this.#sliceBytes, end - this.#readTo, this.#untilNextSize());
      const piece = log.readInto(this.#buffer.subarray(0, room), this.#readTo);
      if (!piece) break;
      if (piece.kind === 'gap') await this.#jump(piece.to);
      else await this.#show(piece.bytes);
    }
    this.#applySizes();
    if (this.emulator.title !== null) this.terminal.title = this.emulator.title;
  }

  read(): Promise<EmulatedScreen> {
    return this.emulator.read();
  }

  /** The log offset that follows what the emulator has shown. */
  get offset(): number {
    return this.#shownTo;
  }

  serialize(limits: Parameters<Emulator['serialize']>[0]): Promise<string> {
    return this.emulator.serialize(limits);
  }

  [Symbol.dispose](): void {
    this.emulator[Symbol.dispose]();
  }

  async #show(bytes: Uint8Array): Promise<void> {
    const { ended, whole } = this.#sequences.scan(bytes);
    this.#readTo += bytes.length;
    if (whole === null) {
      if (this.#held && this.#held.length + bytes.length > maxHeldBytes) this.#held = null;
      else if (this.#held) this.#held = Buffer.concat([this.#held, bytes]);
      return;
    }
    const shown = bytes.subarray(this.#held ? 0 : ended, whole);
    const before = this.#held ?? Buffer.alloc(0);
    this.#held = Buffer.from(bytes.subarray(whole));
    this.#shownTo = this.#readTo - this.#held.length;
    await this.#write(before.length > 0 ? Buffer.concat([before, shown]) : shown);
  }

  async #write(bytes: Uint8Array): Promise<void> {
    const startedMs = this.deps.nowMs();
    this.emulator.write(bytes);
    const tookMs = this.deps.nowMs() - startedMs;
    if (tookMs > slowMs) this.#sliceBytes = Math.max(minSliceBytes, this.#sliceBytes / 2);
    else if (tookMs < quickMs) this.#sliceBytes = Math.min(maxSliceBytes, this.#sliceBytes * 2);
    await this.deps.pause();
  }

  /** Skips the output before the offset. */
  async #jump(wanted: number): Promise<void> {
    const { offset, isAltScreen } = await replayStart(this.terminal.log, wanted, this.deps.pause);
    this.#sequences = new Sequences();
    this.#held = Buffer.alloc(0);
    this.#readTo = offset;
    this.#shownTo = offset;
    const screen = isAltScreen === null ? '' : `\x1b[?1049${isAltScreen ? 'h' : 'l'}`;
    if (offset > 0) this.emulator.write(Buffer.from(`\x1b[!p${screen}`));
  }

  #untilNextSize(): number {
    const next = sizesBehind(this.terminal.record.sizes ?? [], this.#size)[0];
    return next && next.offset > this.#readTo ? next.offset - this.#readTo : Infinity;
  }

  #applySizes(): void {
    for (const change of sizesBehind(this.terminal.record.sizes ?? [], this.#size)) {
      if (change.offset > this.#readTo) return;
      this.emulator.resize(change);
      this.#size = change;
    }
  }
}
