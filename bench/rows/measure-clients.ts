/** Measures the clients of a protocol in the rows that several protocols share. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atLeast, atMost, type Goal, type Measurement } from '../measurement.ts';
import type { Contestant, Mover } from '../peers/peer.ts';
import { burst } from './burst.ts';
import { exec } from './exec.ts';
import { firstByte } from './first-byte.ts';
import { output } from './output.ts';
import type { Field } from './row.ts';
import { measureTransfers } from './transfer.ts';

const sizeMib = 128;

/** The files are in a new directory below `parent`, which all servers reach. */
export async function measureClients(
  field: Field,
  contestants: readonly Contestant[],
  movers: readonly Mover[],
  parent = tmpdir(),
): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  for (const row of [exec, burst, firstByte, output])
    measurements.push(...(await row.measure({ ...field, contestants })));
  const directory = mkdtempSync(join(parent, 'boxkeep-bench-'));
  try {
    return [...measurements, ...(await measureTransfers(movers, sizeMib, directory))];
  } finally {
    rmSync(directory, { recursive: true });
  }
}

interface Judgement {
  readonly rival: string;
  /** The bound of the first measurement; 1 by default. */
  readonly firstTimes?: number;
}

/** boxkeep comes first in each measurement. */
export function judged(
  client: string,
  measurements: readonly Measurement[],
  { rival, firstTimes = 1 }: Judgement,
): Measurement[] {
  return measurements.map((measurement, index) => ({
    ...measurement,
    title: `${client}: ${measurement.title}`,
    goals: [goalOf(measurement, index === 0 ? firstTimes : 1, rival)],
  }));
}

function goalOf({ unit }: Measurement, times: number, rival: string): Goal {
  return unit.endsWith('/s') ? atLeast(times, rival) : atMost(times, rival);
}
