/**
 * Estimates when output arrived from the reports the daemon gets anyway.
 *
 * The daemon asks for no extra reports, so that a session without clients costs nothing.
 */

export interface OutputTime {
  /** A time at which the output had this length. */
  readonly ms: number;
  readonly offset: number;
}

/** Times closer together make no visible difference. */
const apartMs = 10;
const maxTimes = 4096;
/** Output whose arrival was not observed is assumed to have come at this pace, starting at the last known time. */
const bytesPerMs = 8;

export class OutputTimes {
  #times: OutputTime[] = [];

  /** `isLive` means that the output past the previous offset arrived just now, not at some earlier time. */
  note(offset: number, ms: number, isLive = false): void {
    const known = this.#times.at(-1);
    if (isLive && known && known.offset < offset) this.note(known.offset, ms);
    const [before, last] = [this.#times.at(-2), this.#times.at(-1)];
    // Of the times with the same length, only the first and the last carry information.
    const isPair = last !== undefined && before?.offset === last.offset;
    if (last?.offset === offset) {
      if (isPair) this.#times.pop();
      this.#times.push({ offset, ms });
    } else if (last && !isPair && ms - last.ms < apartMs) this.#times[this.#times.length - 1] = { offset, ms: last.ms };
    else this.#times.push({ offset, ms });
    if (this.#times.length > maxTimes) this.#thinOut();
  }

  /** Output between two known times is spread evenly. */
  schedule(begun: OutputTime, now: OutputTime): Schedule {
    return new Schedule([begun, ...this.#times.filter(({ offset }) => offset >= begun.offset), now]);
  }

  /** Drops every second time of the older half. */
  #thinOut(): void {
    this.#times = this.#times.filter((_, index) => index >= maxTimes / 2 || index % 2 === 0);
  }
}

/** Answers queries in ascending order of offsets. */
export class Schedule {
  #at = 0;

  constructor(private readonly times: readonly OutputTime[]) {}

  /** The time at which the byte at this offset arrived. */
  timeOf(offset: number): number {
    const { from, to } = this.#stretch(offset);
    if (!to) return from.ms;
    const paceMs = (to.offset - from.offset) / bytesPerMs;
    const lengthMs = Math.max(0, Math.min(to.ms - from.ms, paceMs));
    return from.ms + (lengthMs * (offset - from.offset)) / (to.offset - from.offset);
  }

  /** The next offset after this one with a known time; Infinity past the last. */
  nextKnown(offset: number): number {
    return this.#stretch(offset).to?.offset ?? Infinity;
  }

  #stretch(offset: number): { readonly from: OutputTime; readonly to: OutputTime | undefined } {
    while ((this.times[this.#at + 1]?.offset ?? Infinity) <= offset) this.#at++;
    return { from: this.times[this.#at] ?? { ms: 0, offset: 0 }, to: this.times[this.#at + 1] };
  }
}
