/** Measures what clients of E2B wait for, beside envd: the published SDK for Python, and the client of the bench. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../launch.ts';
import { atLeast, atMost, type Goal, type Measurement } from '../measurement.ts';
import { openSdk } from '../peers/e2b-sdk.ts';
import { envd } from '../peers/envd.ts';
import type { Contestant, Mover } from '../peers/peer.ts';
import { burst } from './burst.ts';
import { exec } from './exec.ts';
import { firstByte } from './first-byte.ts';
import { idle } from './idle.ts';
import { output } from './output.ts';
import type { Field, Row } from './row.ts';
import { measureTransfers, moverOf } from './transfer.ts';

const sizeMib = 128;

export const e2b: Row = {
  name: 'e2b',
  async measure(field) {
    const rivals = field.contestants.filter(({ name }) => name === 'envd');
    const ours = { name: 'boxkeep', canStartAnew: true, open: () => openOurs(field) };
    const resident = await idle.measure({ ...field, contestants: rivals, starters: [ours] });
    await using opened = new AsyncDisposableStack();
    const servers = [opened.use(await ours.open()), ...rivals];
    const movers = servers.flatMap(({ name, files }) => (files ? [moverOf(name, files)] : []));
    const clients = servers.map((server) => opened.use(openSdk(server)));
    return [
      ...judged('E2B', resident),
      ...judged('E2B', await measureClients(field, servers, movers)),
      ...judged('E2B SDK', await measureClients(field, clients, clients), 0.7),
    ];
  },
};

async function openOurs({ openBoxkeepIn }: Field): Promise<Contestant> {
  const [port, codePort] = [String(await freePort()), String(await freePort())];
  const boxkeep = await openBoxkeepIn({ SVC_E2B: 'on', SVC_E2B_PORT: port, SVC_E2B_CODE_PORT: codePort });
  const spoken = await envd(boxkeep.name, `http://127.0.0.1:${port}`).open();
  return { ...spoken, pids: boxkeep.pids, [Symbol.asyncDispose]: () => boxkeep[Symbol.asyncDispose]() };
}

async function measureClients(
  field: Field,
  contestants: readonly Contestant[],
  movers: readonly Mover[],
): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  for (const row of [exec, burst, firstByte, output])
    measurements.push(...(await row.measure({ ...field, contestants })));
  const directory = mkdtempSync(join(tmpdir(), 'boxkeep-bench-'));
  try {
    return [...measurements, ...(await measureTransfers(movers, sizeMib, directory))];
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** boxkeep comes first in each measurement. */
function judged(client: string, measurements: readonly Measurement[], execTimes = 1): Measurement[] {
  return measurements.map((measurement, index) => ({
    ...measurement,
    title: `${client}: ${measurement.title}`,
    goals: [goalOf(measurement, index === 0 ? execTimes : 1)],
  }));
}

function goalOf({ unit }: Measurement, times: number): Goal {
  return unit.endsWith('/s') ? atLeast(times, 'envd') : atMost(times, 'envd');
}
