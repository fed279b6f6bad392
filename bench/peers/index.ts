/** The peers by name: those that the bench starts, and the wire formats of those that are given by address. */
import type { Limit } from '../limit.ts';
import { envd } from './envd.ts';
import { execd } from './execd.ts';
import type { Peer } from './peer.ts';
import { remoteSandboxd } from './sandboxd.ts';
import { ssh } from './ssh.ts';
import { sweRex } from './swe-rex.ts';

export const startedPeers: Readonly<Record<string, (limit: Limit | null) => Peer>> = { ssh, 'swe-rex': sweRex };

export const addressedPeers: Readonly<Record<string, (name: string, url: string) => Peer>> = {
  envd,
  execd,
  sandboxd: (name, url) => remoteSandboxd(`other ${name}`, url),
};
