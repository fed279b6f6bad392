/**
 * What a session has shown since it was made, as one stream: a shell that was started anew goes on where the one before
 * it has ended. Offsets are absolute bytes.
 */
import type { Piece } from '../../kit/byte-log.ts';
import { Notifier } from '../../kit/notifier.ts';
import type { Child } from '../../platform/spawn.ts';

interface Part {
  /** Where in the whole stream it begins. */
  readonly from: number;
  readonly child: Child;
}

export class TerminalLog {
  readonly #parts: Part[] = [];
  readonly #changes = new Notifier();

  /** `onTold` is given what `end` is known to be, whenever somebody has learned it; live where the keeper told. */
  constructor(private readonly onTold: (end: number, isLive: boolean) => void = () => undefined) {}

  /** Goes on with the output of another process. The one before has ended. */
  add(child: Child): void {
    this.addFrom(this.end, child);
  }

  /** The same, of a process that an earlier daemon had started. */
  addFrom(from: number, child: Child): void {
    this.#parts.push({ from, child });
    void this.#relay(child);
    this.#changes.notify();
  }

  /** What is known to be there; grows as the keeper tells, or is asked. */
  get end(): number {
    const last = this.#parts.at(-1);
    return last ? last.from + last.child.ends[0] : 0;
  }

  /** Before this, nothing is kept. */
  get head(): number {
    const first = this.#parts[0];
    return first ? first.from + first.child.directory.heads()[0] : 0;
  }

  /** Looks at the files themselves: nothing is told while nobody watches. */
  refresh(): number {
    this.#parts.at(-1)?.child.refresh();
    this.onTold(this.end, false);
    return this.end;
  }

  /** Asks to be told, through `changed`, of output past the end that is known now. */
  watch(): void {
    this.#parts.at(-1)?.child.follow();
  }

  /** True while whatever comes is told. */
  get isWatched(): boolean {
    return this.#parts.at(-1)?.child.isWatched ?? false;
  }

  /** Resolves when there is more, when a process has ended or begun, or when the signal aborts. */
  changed(signal?: AbortSignal): Promise<void> {
    return this.#changes.wait(signal);
  }

  /** Wakes everyone who waits for a change. */
  notify(): void {
    this.#changes.notify();
  }

  /** The piece that starts at this offset; null when there is nothing past it. Its bytes are those of the buffer. */
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

  /** Every process that has written to it, the oldest first. */
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
      this.onTold(this.end, true);
      this.#changes.notify();
    }
    this.#changes.notify();
  }
}
