/** What durability costs: `true` over one kept connection, the daemon against direct spawning, in turns. */
import { readFileSync } from 'node:fs';
import { startDirect, startSandboxd, type BenchServer } from './server.ts';

const rounds = 20;
const runsInRound = 50;
const startRuns = 7;

async function exec(server: BenchServer): Promise<number> {
  const startedMs = performance.now();
  const response = await fetch(`${server.url}/v2/commands`, {
    method: 'POST',
    body: JSON.stringify({ command: 'true', shell: 'sh' }),
  });
  const body = (await response.json()) as { data: { exit_code: number } };
  if (body.data.exit_code !== 0) throw new Error('true failed');
  return performance.now() - startedMs;
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? Number.NaN;
}

function rssMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

const starts: number[] = [];
const idle: number[] = [];
for (let run = 0; run < startRuns; run++) {
  await using server = await startSandboxd();
  starts.push(server.startMs);
  idle.push(rssMb(server.pid));
}

await using ours = await startSandboxd();
await using direct = await startDirect();
const times = { ours: [] as number[], direct: [] as number[] };
for (let round = 0; round < rounds; round++) {
  for (const [name, server] of [
    ['ours', ours],
    ['direct', direct],
  ] as const) {
    for (let run = 0; run < runsInRound; run++) {
      const took = await exec(server);
      if (round > 0) times[name].push(took); // The first round warms up.
    }
  }
}

const row = (name: string, values: readonly number[]) =>
  console.log(
    `${name.padEnd(28)} p50 ${quantile(values, 0.5).toFixed(2)} ms  p99 ${quantile(values, 0.99).toFixed(2)} ms`,
  );
row('exec true, sandboxd', times.ours);
row('exec true, direct', times.direct);
console.log(
  `ratio of the p50s             ${(quantile(times.ours, 0.5) / quantile(times.direct, 0.5)).toFixed(2)} (to reach: at most 1.4)`,
);
console.log(`start to first /health        median ${quantile(starts, 0.5).toFixed(1)} ms (to reach: at most 40)`);
console.log(
  `idle RSS                      median ${quantile(idle, 0.5).toFixed(1)} MB (to reach: at most 45); after this run ${rssMb(ours.pid).toFixed(1)} MB`,
);
