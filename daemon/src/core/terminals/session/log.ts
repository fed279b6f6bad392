/**
 * Presents everything a session has shown as one stream, across restarts of its shell.
 *
 * The output of a new shell follows the output of the one before it. Offsets are absolute bytes.
 */
import type { Piece } from '../../../kit/byte-log.ts';
import { Notifier } from '../../../kit/events/notifier.ts';
import type { Child } from '../../../platform/process/spawn.ts';

interface Part {
  /** The offset of the part in the whole stream. */
  readonly from: number;
  readonly child: Child;
}

export class TerminalLog {
  readonly #parts: Part[] = [];
  readonly #changes = new Notifier();

  /** `onProgress` receives the known end whenever it is updated. `isLive` is true if the keeper reported the change. */
  constructor(private readonly onProgress: (end: number, isLive: boolean) => void = () => undefined) {}

  /** Appends the output of another process. The previous process has ended. */
  add(child: Child): void {
    this.addFrom(this.end, child);
  }

  /** Like `add`, for a process that an earlier daemon started. */
  addFrom(from: number, child: Child): void {
    this.#parts.push({ from, child });
    void this.#relay(child);
    this.#changes.notify();
  }

  /** The known end of the stream. Grows when the keeper reports output and when `refresh` is called. */
  get end(): number {
    const last = this.#parts.at(-1);
    return last ? last.from + last.child.ends[0] : 0;
  }

  /** The start of the output that is still kept. */
  get head(): number {
    const first = this.#parts[0];
    return first ? first.from + first.child.directory.heads()[0] : 0;
  }

  /** Reads the end from the files, because the keeper reports nothing while the log is not watched. */
  refresh(): number {
    this.#parts.at(-1)?.child.refresh();
    this.onProgress(this.end, false);
    return this.end;
  }

  /** Asks the keeper to report, through `changed`, output past the known end. */
  watch(): void {
    this.#parts.at(-1)?.child.follow();
  }

  /** True while the keeper reports new output. */
  get isWatched(): boolean {
    return this.#parts.at(-1)?.child.isWatched ?? false;
  }

  /** Resolves when output arrives, when a process ends or begins, or when the signal aborts. */
  changed(signal?: AbortSignal): Promise<void> {
    return this.#changes.wait(signal);
  }

  /** Wakes all callers that wait for a change. */
  notify(): void {
    this.#changes.notify();
  }

  /** Reads the piece at this offset into the buffer; null if there is nothing past the offset. */
  readInto(buffer: Uint8Array, offset: number): Piece | null {
    const part = this.#parts.findLast(({ from }) => from <= offset);
    if (!part) return null;
    const isLast = part === this.#parts.at(-1);
    const room = isLast ? buffer : buffer.subarray(0, Math.max(0, this.#endOf(part) - offset));
    const piece = part.child.readInto(room, offset - part.from);
    if (!piece) return null;
    if (piece.kind === 'gap') return { kind: 'gap', from: offset, to: part.from + piece.to };
    return { ...piece, offset };
  }

  /** Keeps the files open between two reads. */
  use(): Disposable {
    const open = this.#parts.map(({ child }) => child.directory.use());
    return { [Symbol.dispose]: () => open.forEach((one) => one[Symbol.dispose]()) };
  }

  /** Every process that wrote to the stream, oldest first. */
  get children(): readonly Child[] {
    return this.#parts.map(({ child }) => child);
  }

  #endOf(part: Part): number {
    const next = this.#parts[this.#parts.indexOf(part) + 1];
    return next?.from ?? part.from + part.child.ends[0];
  }

  async #relay(child: Child): Promise<void> {
    while (!child.end || child.streamsOpen) {
      await child.changed();
      this.onProgress(this.end, true);
      this.#changes.notify();
    }
    this.#changes.notify();
  }
}
