/** In which order the bytes of the two streams were read, so that they can be shown as a person saw them. */
import type { ArrivalRun, Child, StreamName } from '../../platform/spawn.ts';

/** A range of one stream. */
export interface Segment {
  readonly stream: StreamName;
  readonly from: number;
  readonly to: number;
}

const batchRuns = 512;

/** Walks the index of arrivals forward, together with a reader's offsets. */
export class ArrivalOrder {
  #entry = 0;
  #batch: readonly ArrivalRun[] = [];
  #batchStart = 0;

  constructor(private readonly child: Child) {}

  /** What comes next for a reader that has everything before its offsets; null past the end of the index. */
  next(offsets: Readonly<Record<StreamName, number>>): Segment | null {
    if (this.child.ends[0] === 0 || this.child.ends[1] === 0) return null; // One stream alone has no order.
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
    // A run is told when it has ended: past the index there is only the one that still goes on.
    if (index >= this.#batch.length) {
      this.#batch = this.child.arrivals(entry, batchRuns);
      this.#batchStart = entry;
    }
    return this.#batch[entry - this.#batchStart];
  }
}

/** All that is known to be in the logs, in the order it came; what the index does not tell comes last. */
export function arrivalSegments(child: Child): Segment[] {
  const order = new ArrivalOrder(child);
  const offsets = { stdout: 0, stderr: 0 };
  const segments: Segment[] = [];
  for (let next = order.next(offsets); next && next.to > next.from; next = order.next(offsets)) {
    segments.push(next);
    offsets[next.stream] = next.to;
  }
  const rest: Segment[] = [
    { stream: 'stdout', from: offsets.stdout, to: child.ends[0] },
    { stream: 'stderr', from: offsets.stderr, to: child.ends[1] },
  ];
  return [...segments, ...rest.filter(({ from, to }) => to > from)];
}
