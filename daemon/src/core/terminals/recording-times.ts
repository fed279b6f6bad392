/** When output came, as far as the daemon was told: it asks for nothing, so that a session nobody is at costs nothing. */

export interface OutputTime {
  /** At this time, the output was so long. */
  readonly ms: number;
  readonly offset: number;
}

/** Closer ones are of no use to an eye. */
const apartMs = 10;
const mostTimes = 4096;
/** What came while nobody looked is taken to have come at this pace, from the last time that is known. */
const bytesPerMs = 8;

export class OutputTimes {
  #times: OutputTime[] = [];

  /** `isLive`: what is past the offset before has come just now, and not at some time since then. */
  note(offset: number, ms: number, isLive = false): void {
    const known = this.#times.at(-1);
    if (isLive && known && known.offset < offset) this.note(known.offset, ms);
    const [before, last] = [this.#times.at(-2), this.#times.at(-1)];
    // Of the times at which it was as long as this, the first and the last say something.
    const isPair = last !== undefined && before?.offset === last.offset;
    if (last?.offset === offset) {
      if (isPair) this.#times.pop();
      this.#times.push({ offset, ms });
    } else if (last && !isPair && ms - last.ms < apartMs) this.#times[this.#times.length - 1] = { offset, ms: last.ms };
    else this.#times.push({ offset, ms });
    if (this.#times.length > mostTimes) this.#thinOut();
  }

  /** Between two moments, what came is spread evenly. */
  schedule(begun: OutputTime, now: OutputTime): Schedule {
    return new Schedule([begun, ...this.#times.filter(({ offset }) => offset >= begun.offset), now]);
  }

  /** Of the older half, every second one goes. */
  #thinOut(): void {
    this.#times = this.#times.filter((_, index) => index >= mostTimes / 2 || index % 2 === 0);
  }
}

/** Asked in the order of the output. */
export class Schedule {
  #at = 0;

  constructor(private readonly times: readonly OutputTime[]) {}

  /** When the byte at this offset came. */
  timeOf(offset: number): number {
    const { from, to } = this.#stretch(offset);
    if (!to) return from.ms;
    const paceMs = (to.offset - from.offset) / bytesPerMs;
    const lengthMs = Math.max(0, Math.min(to.ms - from.ms, paceMs));
    return from.ms + (lengthMs * (offset - from.offset)) / (to.offset - from.offset);
  }

  /** The first moment behind this offset that is known; Infinity past the last. */
  nextKnown(offset: number): number {
    return this.#stretch(offset).to?.offset ?? Infinity;
  }

  #stretch(offset: number): { readonly from: OutputTime; readonly to: OutputTime | undefined } {
    while ((this.times[this.#at + 1]?.offset ?? Infinity) <= offset) this.#at++;
    return { from: this.times[this.#at] ?? { ms: 0, offset: 0 }, to: this.times[this.#at + 1] };
  }
}
