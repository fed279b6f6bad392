/** Measures what clients of E2B wait for, beside envd: the published SDK for Python, and the client of the bench. */
import { freePort } from '../launch.ts';
import { openE2bSdk } from '../peers/e2b-sdk.ts';
import { envd } from '../peers/envd.ts';
import type { Contestant } from '../peers/peer.ts';
import { idle } from './idle.ts';
import { judged, measureClients } from './measure-clients.ts';
import type { Field, Row } from './row.ts';
import { moverOf } from './transfer.ts';

const rival = 'envd';

export const e2b: Row = {
  name: 'e2b',
  async measure(field) {
    const rivals = field.contestants.filter(({ name }) => name === rival);
    const ours = { name: 'boxkeep', canStartAnew: true, open: () => openOurs(field) };
    const resident = await idle.measure({ ...field, contestants: rivals, starters: [ours] });
    await using opened = new AsyncDisposableStack();
    const servers = [opened.use(await ours.open()), ...rivals];
    const movers = servers.flatMap(({ name, files }) => (files ? [moverOf(name, files)] : []));
    const clients = servers.map((server) => opened.use(openE2bSdk(server)));
    return [
      ...judged('E2B', resident, { rival }),
      ...judged('E2B', await measureClients(field, servers, movers), { rival }),
      ...judged('E2B SDK', await measureClients(field, clients, clients), { rival, firstTimes: 0.7 }),
    ];
  },
};

async function openOurs({ openBoxkeepIn }: Field): Promise<Contestant> {
  const [port, codePort] = [String(await freePort()), String(await freePort())];
  const boxkeep = await openBoxkeepIn({ SVC_E2B: 'on', SVC_E2B_PORT: port, SVC_E2B_CODE_PORT: codePort });
  const spoken = await envd(boxkeep.name, `http://127.0.0.1:${port}`).open();
  return { ...spoken, pids: boxkeep.pids, [Symbol.asyncDispose]: () => boxkeep[Symbol.asyncDispose]() };
}
