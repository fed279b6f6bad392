/** Sorts and maps many items in time slices. Other work on the event loop runs between the slices. */
import type { MemoryBudget } from '../../kit/memory-budget.ts';
import type { TimeSlices } from '../../kit/slices.ts';

/** Number of items that one native sort call handles without a pause. */
const runLength = 1024;

export type Compare<T> = (a: T, b: T) => number;

/** Returns a sorted copy. Sorts short runs natively and merges the runs with pauses. */
export async function sortInSlices<T>(items: readonly T[], compare: Compare<T>, slices: TimeSlices): Promise<T[]> {
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

async function merge<T>(
  left: readonly T[],
  right: readonly T[],
  compare: Compare<T>,
  slices: TimeSlices,
): Promise<T[]> {
  const merged: T[] = [];
  let [i, j] = [0, 0];
  while (i < left.length && j < right.length) {
    merged.push(compare(left[i]!, right[j]!) <= 0 ? left[i++]! : right[j++]!);
    if (merged.length % runLength === 0 && slices.isOver) await slices.pause();
  }
  return merged.concat(i < left.length ? left.slice(i) : right.slice(j));
}

/** Memory of one kept item at most, where its path is long: the path, its place in the order, and what is known of it. */
const bytesPerItem = 1536;

/** Keeps the first `limit` items in sort order, with memory for about twice `limit` items, until it is disposed of. */
export class TopItems<T> implements Disposable {
  #kept: T[] = [];
  #last: T | null = null;
  #held: Disposable | null = null;

  constructor(
    private readonly limit: number,
    private readonly compare: Compare<T>,
    private readonly slices: TimeSlices,
    private readonly memory: { readonly room: MemoryBudget; readonly signal: AbortSignal },
  ) {}

  /** Throws `capacity_reached` where there is no memory for more than a few items. */
  async add(item: T): Promise<void> {
    if (this.#last !== null && this.compare(item, this.#last) >= 0) return;
    if (this.#kept.length === runLength) await this.#hold();
    this.#kept.push(item);
    if (this.#kept.length >= this.limit * 2 + runLength) await this.#cut();
  }

  /** Returns the kept items in order. */
  async take(): Promise<T[]> {
    await this.#cut();
    return this.#kept;
  }

  [Symbol.dispose](): void {
    this.#held?.[Symbol.dispose]();
  }

  async #hold(): Promise<void> {
    const { room, signal } = this.memory;
    this.#held ??= await room.admitInTurn(2 * this.limit * bytesPerItem, signal);
  }

  async #cut(): Promise<void> {
    const sorted = await sortInSlices(this.#kept, this.compare, this.slices);
    this.#kept = sorted.slice(0, this.limit);
    if (this.#kept.length === this.limit) this.#last = this.#kept.at(-1) ?? null;
  }
}

/** Runs `work` for each item, up to `atOnce` in parallel. The results have the order of the items. */
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
