/** The peers by name: servers that the bench starts, and wire formats of servers given by address. */
import type { Limit } from '../limit.ts';
import { envd } from './envd.ts';
import { execd } from './execd.ts';
import type { Peer } from './peer.ts';
import { remoteBoxkeep } from './boxkeep.ts';
import { ssh } from './ssh.ts';
import { sweRex } from './swe-rex.ts';

export const startedPeers: Readonly<Record<string, (limit: Limit | null) => Peer>> = { ssh, 'swe-rex': sweRex };

export const addressedPeers: Readonly<Record<string, (name: string, url: string) => Peer>> = {
  envd,
  execd,
  boxkeep: (name, url) => remoteBoxkeep(`other ${name}`, url),
};
