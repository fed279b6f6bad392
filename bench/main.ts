/** `npm run bench`: measures the built daemon and its peers, prints a table, writes figures and a picture. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chart } from './chart.ts';
import { makeLimit, type Limit } from './limit.ts';
import { circumstances } from './machine.ts';
import { verdicts, type RowMeasurement } from './measurement.ts';
import { readOptions, usage, type Options } from './options.ts';
import { direct } from './peers/direct.ts';
import { addressedPeers, startedPeers } from './peers/index.ts';
import type { Contestant, Peer } from './peers/peer.ts';
import { rows } from './rows/index.ts';
import type { Field } from './rows/row.ts';
import { builtBoxkeep } from './peers/boxkeep.ts';
import { table } from './table.ts';

const results = join(import.meta.dirname, 'results');

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}\n${usage}`);
  process.exitCode = 2;
}

async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  sayWhoIsLeftOut(options);
  const measurements = await measureAll(options);
  report(options, measurements);
  const broken = measurements.flatMap(verdicts).filter(({ goal, holds }) => goal.isBudget && !holds);
  return broken.length === 0 ? 0 : 1;
}

function sayWhoIsLeftOut({ peers }: Options): void {
  const left = [...Object.keys(startedPeers), ...Object.keys(addressedPeers)].filter(
    (name) => !peers.some((peer) => peer.name === name),
  );
  if (left.length > 0) console.log(`bench: not given, so left out: ${left.join(', ')}`);
}

async function measureAll(options: Options): Promise<RowMeasurement[]> {
  await using stack = new AsyncDisposableStack();
  const limits = new Map<string, Limit>();
  const limitFor = (name: string): Limit | null => {
    if (!options.isLimited) return null;
    const limit = limits.get(name) ?? stack.use(makeLimit(name));
    limits.set(name, limit);
    return limit;
  };
  const ours = builtBoxkeep(limitFor('boxkeep'));
  const started: Peer[] = [ours, direct(limitFor('direct'))];
  const addressed: Peer[] = [];
  for (const { name, url } of options.peers) {
    if (url === null) started.push(startedPeers[name]!(limitFor(name)));
    else addressed.push(addressedPeers[name]!(name, url));
  }
  const contestants: Contestant[] = [];
  for (const peer of [...started, ...addressed]) contestants.push(stack.use(await peer.open()));
  // A running server enters its group late, and leaves the group when the bench ends.
  for (const { name, pids } of contestants.slice(started.length)) limitFor(name)?.take(pids);
  // Awaited here, because the servers end with this function.
  return await runRows(options, {
    contestants,
    starters: started.filter(({ canStartAnew }) => canStartAnew),
    openBoxkeep: (...flags) => ours.open(...flags),
    openBoxkeepIn: (environment, ...flags) => ours.openIn(environment, ...flags),
    limitFor,
  });
}

async function runRows({ rows }: Options, field: Field): Promise<RowMeasurement[]> {
  const measurements: RowMeasurement[] = [];
  for (const row of rows) {
    const startedMs = performance.now();
    process.stdout.write(`bench: ${row.name} …`);
    const taken = await row.measure(field);
    measurements.push(...taken.map((measurement) => ({ row: row.name, ...measurement })));
    process.stdout.write(` ${((performance.now() - startedMs) / 1000).toFixed(0)} s\n`);
  }
  return measurements;
}

/** Only the results of a run with all rows are saved. A run with chosen rows is only printed. */
function report(options: Options, measurements: readonly RowMeasurement[]): void {
  const around = circumstances(options.isLimited);
  console.log(`\n${table(measurements)}\n\n${JSON.stringify(around)}`);
  if (options.rows.length < rows.length) return;
  mkdirSync(results, { recursive: true });
  const name = options.isLimited ? 'latest-half-a-core' : 'latest';
  const verdictsOf = (measurement: RowMeasurement) => ({ ...measurement, verdicts: verdicts(measurement) });
  writeFileSync(
    join(results, `${name}.json`),
    `${onShortLines(JSON.stringify({ ...around, rows: measurements.map(verdictsOf) }, rounded, 1))}\n`,
  );
  const title = `boxkeep at ${around.commit}, ${around.cores} × ${around.cpu}, each server: ${around.limit === 'none' ? 'no limit' : around.limit}`;
  writeFileSync(join(results, `${name}.svg`), chart(title, measurements));
}

/** Puts each list of samples on one line. */
function onShortLines(json: string): string {
  return json.replaceAll(
    /\[\s*((?:-?[\d.e+-]+,?\s*)+)\]/g,
    (_, list: string) => `[${list.replaceAll(/\s+/g, ' ').trim()}]`,
  );
}

/** No sample is more precise than a microsecond or a kibibyte. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toFixed(3)) : value;
}
