/**
 * Measures what thousands of commands leave behind.
 *
 * Only `npm run soak` shows whether memory keeps growing.
 */
import { budget } from '../measurement.ts';
import type { Contestant } from '../peers/peer.ts';
import { descriptorCount, residentMib } from '../processes.ts';
import { slope } from '../statistics.ts';
import { runSideBySide } from '../turns.ts';
import type { Row } from './row.ts';

const width = 16;
/** More than the number of ended commands that the server keeps, so that kept records no longer grow. */
const warmUpRuns = 1000;
const blocks = 5;
const runsInBlock = 600;
/** A server that takes longer for a block is not measured. */
const blockMs = 4000;

export const many: Row = {
  name: 'many',
  async measure({ contestants }) {
    const after: Record<string, number[]> = {};
    const slopes: Record<string, number[]> = {};
    const descriptors: Record<string, number[]> = {};
    for (const contestant of contestants.filter(({ pids }) => pids.length > 0)) {
      const { name, pids } = contestant;
      await runSideBySide(contestant, 'true', width, warmUpRuns, blockMs);
      const before = descriptorCount(pids);
      const sizes = await sizesAfterBlocks(contestant);
      if (sizes === null) continue;
      after[name] = sizes.slice(-1);
      slopes[name] = [slope(sizes) * (1000 / runsInBlock)];
      descriptors[name] = [descriptorCount(pids) - before];
    }
    return [
      {
        title: `resident after ${blocks * runsInBlock + warmUpRuns} commands`,
        unit: 'MiB',
        goals: [budget(100)],
        samples: after,
      },
      // The size of a garbage-collected heap varies by more than this measures.
      { title: 'growth for each 1000 of them', unit: 'MiB', goals: [], samples: slopes },
      { title: 'descriptors that they leave', unit: 'descriptors', goals: [budget(0)], samples: descriptors },
    ];
  },
};

/** Null for a server that is too slow. */
async function sizesAfterBlocks(contestant: Contestant): Promise<number[] | null> {
  const sizes: number[] = [];
  while (sizes.length < blocks) {
    const startedMs = performance.now();
    await runSideBySide(contestant, 'true', width, runsInBlock, blockMs);
    if (performance.now() - startedMs > blockMs) return null;
    sizes.push(residentMib(contestant.pids));
  }
  return sizes;
}
