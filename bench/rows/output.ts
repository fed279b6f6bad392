/** Measures 64 MiB of text through the output stream: the throughput and the server's growth. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atLeast, budget } from '../measurement.ts';
import type { Contestant } from '../peers/peer.ts';
import { forgetPeak, peakMib, residentMib } from '../processes.ts';
import { inTurns } from '../turns.ts';
import type { Row } from './row.ts';

const rounds = 3;
const sizeMib = 64;
const line = `${'the quick brown fox jumps over the lazy dog '.repeat(3).trim().slice(0, 127)}\n`;

export const output: Row = {
  name: 'output',
  async measure({ contestants }) {
    const directory = mkdtempSync(join(tmpdir(), 'boxkeep-bench-'));
    const path = join(directory, 'text');
    writeFileSync(path, line.repeat((sizeMib * 2 ** 20) / line.length));
    const growth: Record<string, number[]> = {};
    const speed = await inTurns(
      contestants.filter(({ follow }) => follow !== null),
      rounds,
      async (contestant) => {
        const { mibPerSecond, grownMib } = await passThrough(contestant, `cat ${path}`);
        if (contestant.pids.length > 0) (growth[contestant.name] ??= []).push(grownMib);
        return [mibPerSecond];
      },
    );
    rmSync(directory, { recursive: true });
    return [
      { title: '64 MiB of output, streamed', unit: 'MiB/s', goals: [atLeast(1, 'ssh')], samples: speed },
      { title: 'growth at the peak of it', unit: 'MiB', goals: [budget(32)], samples: growth },
    ];
  },
};

async function passThrough(
  { name, follow, pids }: Contestant,
  script: string,
): Promise<{ mibPerSecond: number; grownMib: number }> {
  forgetPeak(pids);
  const before = residentMib(pids);
  const startedMs = performance.now();
  let lastMs = startedMs;
  let bytes = 0;
  for await (const piece of follow!(script)) {
    bytes += piece;
    lastMs = performance.now();
  }
  if (bytes !== sizeMib * 2 ** 20) throw new Error(`${name}: ${bytes} bytes arrived of ${sizeMib} MiB`);
  return { mibPerSecond: sizeMib / ((lastMs - startedMs) / 1000), grownMib: peakMib(pids) - before };
}
