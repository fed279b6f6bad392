/** The emulator of one session while somebody looks: brought up to date when it is asked, from the log alone. */
import type { EmulatedScreen, Emulator, OpenEmulator } from '../../platform/emulator.ts';
import { Sequences } from './screen-sequences.ts';
import { replayBytes, replayStart } from './screen-start.ts';
import { sizeAt, sizesBehind, type SizeChange } from './screen-sizes.ts';
import type { Terminal } from './terminal.ts';

export interface LiveScreenDeps {
  readonly openEmulator: OpenEmulator;
  /** Lets others have their turn. */
  readonly pause: () => Promise<unknown>;
  readonly nowMs: () => number;
}

/** What the emulator is given at once; as much as it works through in a few milliseconds. */
const leastSliceBytes = 8 * 1024;
const mostSliceBytes = 128 * 1024;
const quickMs = 2;
const slowMs = 5;
/** What is kept of a sequence whose end has not come. A longer one is a picture or a clipboard: nothing to be seen. */
const mostHeldBytes = 256 * 1024;

export class LiveScreen implements Disposable {
  readonly #buffer = Buffer.allocUnsafe(mostSliceBytes);
  #sliceBytes = leastSliceBytes;
  #sequences = new Sequences();
  /** What was read of a sequence whose end has not; null when it is too long to be kept. */
  #held: Buffer | null = Buffer.alloc(0);
  /** The emulator stands for the output up to here. */
  #shownTo = 0;
  #readTo = 0;
  #size: SizeChange | null = null;

  private constructor(
    private readonly terminal: Terminal,
    private readonly emulator: Emulator,
    private readonly deps: LiveScreenDeps,
  ) {}

  static async open(terminal: Terminal, deps: LiveScreenDeps): Promise<LiveScreen> {
    const from = Math.max(terminal.log.head, terminal.log.refresh() - replayBytes, 0);
    const size = sizeAt(terminal.record.sizes ?? [], from);
    const live = new LiveScreen(terminal, await deps.openEmulator(size ?? terminal.size), deps);
    live.#size = size;
    return live;
  }

  /** Shows what the log has now. What comes meanwhile is for the next call. */
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
    this.terminal.title = this.emulator.title ?? this.terminal.title;
  }

  read(): Promise<EmulatedScreen> {
    return this.emulator.read();
  }

  /** Where in the log goes on what the emulator has shown. */
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
      if (this.#held && this.#held.length + bytes.length > mostHeldBytes) this.#held = null;
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
    if (tookMs > slowMs) this.#sliceBytes = Math.max(leastSliceBytes, this.#sliceBytes / 2);
    else if (tookMs < quickMs) this.#sliceBytes = Math.min(mostSliceBytes, this.#sliceBytes * 2);
    await this.deps.pause();
  }

  /** Leaves out what lies before. */
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
