/**
 * Measures the memory that each idle terminal costs the server.
 *
 * The shells do not count, because they are the same everywhere.
 */
import { atMost, subject, type Measurement } from '../measurement.ts';
import { newSession, plain, readScreen, socketUrl, terminalsOf } from '../peers/boxkeep-terminals.ts';
import type { Boxkeep } from '../peers/boxkeep.ts';
import { OpenTerminal, type TerminalServer } from '../peers/terminal.ts';
import { openTtyd } from '../peers/ttyd.ts';
import { proportionalMib, residentMib } from '../processes.ts';
import type { Row } from './row.ts';

const idleTerminals = 200;
/** After this time temporary memory has been returned, or counts. */
const restMs = 3000;
const sayReady = 'echo REA""DY\r';

export const terminals: Row = {
  name: 'terminals',
  async measure({ openBoxkeep }) {
    // A fresh server, because a heap that has grown before would have room for all terminals.
    const open = () => openBoxkeep('--shell-backend', 'native', '--shell-max-sessions', String(idleTerminals + 1));
    await using alone = await open();
    const measured = await unattended(alone);
    await using boxkeep = await open();
    await using ttyd = await openTtyd();
    return [...measured, await attended(terminalsOf(boxkeep), ttyd)];
  },
};

const each = (beforeMib: number, afterMib: number): number[] => [((afterMib - beforeMib) * 1024) / idleTerminals];

async function unattended(boxkeep: Boxkeep): Promise<Measurement[]> {
  const { url, pids } = boxkeep;
  await look(url, await newSession(url)); // Memory that the first terminal loads is not a cost of later ones.
  const before = await restingMib(pids);
  const ids: string[] = [];
  for (let count = 0; count < idleTerminals; count++) ids.push(await newSession(url));
  const made = await restingMib(pids);
  const keepers = boxkeep.keeperPids;
  const kept = [proportionalMib(keepers), residentMib(keepers)].map((mib) => (mib * 1024) / keepers.length);
  for (const id of ids) await look(url, id);
  const seen = await restingMib(pids);
  const goals = [] as const;
  return [
    {
      title: `each of ${idleTerminals} idle terminals, in the daemon`,
      unit: 'KiB',
      goals,
      samples: { [subject]: each(before, made), 'once attached to, its screen once read': each(before, seen) },
    },
    {
      title: 'its keeper, proportional share',
      unit: 'KiB',
      goals,
      samples: { [subject]: kept.slice(0, 1), 'all that is resident, shared or not': kept.slice(1) },
    },
  ];
}

/** A client attaches once, types, and reads the screen. */
async function look(url: string, id: string): Promise<void> {
  using shell = await OpenTerminal.open({ ...plain, newShell: () => Promise.resolve(socketUrl(url, id)) });
  await shell.shows('READY', sayReady);
  await readScreen(url, id);
}

/** ttyd has no terminals without a client. */
async function attended(ours: TerminalServer, ttyd: TerminalServer | null): Promise<Measurement> {
  const samples: Record<string, number[]> = {};
  for (const server of [ours, ...(ttyd ? [ttyd] : [])]) {
    using shells = new DisposableStack();
    shells.use(await openReady(server));
    const before = await restingMib(server.pids);
    for (let count = 0; count < idleTerminals; count++) shells.use(await openReady(server));
    samples[server.name] = each(before, await restingMib(server.pids));
  }
  return { title: 'one with an attached client, in the server', unit: 'KiB', goals: [atMost(1, 'ttyd')], samples };
}

async function openReady(server: TerminalServer): Promise<OpenTerminal> {
  const shell = await OpenTerminal.open(server.terminal);
  await shell.shows('READY', sayReady);
  return shell;
}

async function restingMib(pids: readonly number[]): Promise<number> {
  await Bun.sleep(restMs);
  return residentMib(pids);
}
