/** Tracks the order in which stdout and stderr bytes arrived, so that output is shown in that order. */
import type { Range } from '../../kit/byte-log.ts';
import { type StreamName, streamNames } from '../../kit/types/stream-name.ts';
import type { ArrivalRun, Child } from '../../platform/process/spawn.ts';

/** A byte range of one stream. */
export interface Segment extends Range {
  readonly stream: StreamName;
}

const batchRuns = 512;

/** Walks the arrival index forward, in step with a reader's offsets. */
export class ArrivalOrder {
  #entry = 0;
  #batch: readonly ArrivalRun[] = [];
  #batchStart = 0;

  constructor(private readonly child: Child) {}

  /** The next segment for a reader that has everything before its offsets; null past the end of the index. */
  next(offsets: Readonly<Record<StreamName, number>>): Segment | null {
    if (this.child.ends[0] === 0 || this.child.ends[1] === 0) return null; // No order is needed for a single stream.
    for (;;) {
      const run = this.#run(this.#entry);
      if (!run) return null;
      const from = offsets[run.stream];
      if (run.end > from) return { stream: run.stream, from, to: Math.min(run.end, this.#known(run.stream)) };
      this.#entry += 1;
    }
  }

  #known(stream: StreamName): number {
    return this.child.ends[stream === 'stdout' ? 0 : 1];
  }

  #run(entry: number): ArrivalRun | undefined {
    const index = entry - this.#batchStart;
    // The keeper indexes a run when the run has ended, so only the run in progress lies past the index.
    if (index >= this.#batch.length) {
      this.#batch = this.child.arrivals(entry, batchRuns);
      this.#batchStart = entry;
    }
    return this.#batch[entry - this.#batchStart];
  }
}

/**
 * The output of both streams up to `ends`, in arrival order. Output that the index does not cover comes last. The index
 * may have a million entries, so no list of them is made.
 */
export function* arrivalSegments(child: Child, ends: Readonly<Record<StreamName, number>>): Generator<Segment> {
  const order = new ArrivalOrder(child);
  const offsets = { stdout: 0, stderr: 0 };
  for (let next = order.next(offsets); next && next.to > next.from; next = order.next(offsets)) {
    yield { ...next, to: Math.min(next.to, ends[next.stream]) };
    offsets[next.stream] = next.to;
  }
  for (const stream of streamNames) yield { stream, from: offsets[stream], to: ends[stream] };
}
