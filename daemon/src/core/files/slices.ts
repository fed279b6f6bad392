/** Work on many items in slices, between which everything else on the event loop has its turn. */
import type { Slices } from '../../kit/slices.ts';

/** What one call of the engine sorts without a pause. */
const runLength = 1024;

export type Compare<T> = (a: T, b: T) => number;

/** A sorted copy: short runs by the engine, merged with pauses. */
export async function sortInSlices<T>(items: readonly T[], compare: Compare<T>, slices: Slices): Promise<T[]> {
  let runs: T[][] = [];
  for (let at = 0; at < items.length; at += runLength) {
    runs.push(items.slice(at, at + runLength).sort(compare));
    if (slices.isOver) await slices.pause();
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(await merge(runs[at]!, runs[at + 1] ?? [], compare, slices));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge<T>(left: readonly T[], right: readonly T[], compare: Compare<T>, slices: Slices): Promise<T[]> {
  const merged: T[] = [];
  let [i, j] = [0, 0];
  while (i < left.length && j < right.length) {
    merged.push(compare(left[i]!, right[j]!) <= 0 ? left[i++]! : right[j++]!);
    if (merged.length % runLength === 0 && slices.isOver) await slices.pause();
  }
  return merged.concat(i < left.length ? left.slice(i) : right.slice(j));
}

/** Keeps the first `limit` of any number of items in memory for twice as many. */
export class FirstOf<T> {
  #kept: T[] = [];
  #last: T | null = null;

  constructor(
    private readonly limit: number,
    private readonly compare: Compare<T>,
    private readonly slices: Slices,
  ) {}

  async add(item: T): Promise<void> {
    if (this.#last !== null && this.compare(item, this.#last) >= 0) return;
    this.#kept.push(item);
    if (this.#kept.length >= this.limit * 2 + runLength) await this.#cut();
  }

  /** In order. */
  async take(): Promise<T[]> {
    await this.#cut();
    return this.#kept;
  }

  async #cut(): Promise<void> {
    const sorted = await sortInSlices(this.#kept, this.compare, this.slices);
    this.#kept = sorted.slice(0, this.limit);
    if (this.#kept.length === this.limit) this.#last = this.#kept.at(-1) ?? null;
  }
}

/** Does `work` for each item, some at once; the results are in the order of the items. */
export async function mapBounded<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = Array.from({ length: items.length });
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++;
      results[at] = await work(items[at]!);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}
