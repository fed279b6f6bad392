/** Measures what the clients of this repository add to a raw call, and how much of the raw rate of output they reach. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atLeast, atMost, type Measurement, type Samples } from '../measurement.ts';
import { ClientProgram } from '../peers/client-program.ts';
import { openE2bSdk } from '../peers/e2b-sdk.ts';
import { median } from '../statistics.ts';
import { inTurns, runInSequence } from '../turns.ts';
import type { Field, Row } from './row.ts';

const rounds = 10;
const runsInTurn = 50;
const turnMs = 1000;
const outputBytes = 64 * 1024 ** 2;
const script = `yes 'a line of output, as builds and tests print them' | head -c ${outputBytes}`;

export const client: Row = {
  name: 'client',
  async measure(field) {
    const directory = mkdtempSync(join(tmpdir(), 'boxkeep-bench-'));
    try {
      await using opened = new AsyncDisposableStack();
      const { url } = opened.use(await field.openBoxkeep());
      const node = opened.use(await ClientProgram.inNode(url, directory));
      const python = opened.use(ClientProgram.inPython(url));
      return [
        ...(await measureProgram('client for TypeScript', node, 0.3, {})),
        ...(await measureProgram('client for Python', python, 1, await sdkSamples(field))),
      ];
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
};

/** `addedMs` is what a call may take beyond a raw one. */
async function measureProgram(
  title: string,
  program: ClientProgram,
  addedMs: number,
  others: Samples,
): Promise<Measurement[]> {
  const runs = [
    { name: 'boxkeep', call: 'run' },
    { name: 'raw', call: 'rawRun' },
  ] as const;
  const added: number[] = [];
  let last = 0;
  const samples = await inTurns(runs, rounds, async ({ name, call }) => {
    const took = await program.times(call, runsInTurn, (code) => code === 0);
    if (name === 'boxkeep') last = median(took);
    else added.push(last - median(took));
    return took;
  });
  const outputs = [
    { name: 'boxkeep', call: 'output' },
    { name: 'raw', call: 'rawOutput' },
  ] as const;
  const rates = await inTurns(outputs, rounds, async ({ call }) =>
    (await program.times(call, 1, (bytes) => bytes >= outputBytes, script)).map(
      (ms) => (outputBytes / 1024 ** 2 / ms) * 1000,
    ),
  );
  return [
    { title: `${title}: \`true\`, one connection`, unit: 'ms', goals: [], samples: { ...samples, ...others } },
    // The first round warms up.
    { title: 'beyond a raw call', unit: 'ms', goals: [atMost(addedMs)], samples: { boxkeep: added.slice(1) } },
    { title: `${title}: 64 MiB of output`, unit: 'MiB/s', goals: [atLeast(0.8, 'raw')], samples: rates },
  ];
}

/** The SDK of E2B on envd, where it takes part. */
async function sdkSamples({ contestants }: Field): Promise<Samples> {
  const envd = contestants.find(({ name }) => name === 'envd');
  if (!envd) return {};
  await using sdk = openE2bSdk(envd);
  return await inTurns([{ ...sdk, name: 'E2B SDK on envd' }], rounds, (contestant) =>
    runInSequence(contestant, 'true', runsInTurn, turnMs),
  );
}
