/** Reads the command line: rows by name, peers by name or address, and the small machine. */
import { parseArgs } from 'node:util';
import { addressedPeers, startedPeers } from './peers/index.ts';
import { rows } from './rows/index.ts';
import type { Row } from './rows/row.ts';

export interface Options {
  readonly rows: readonly Row[];
  readonly peers: readonly { readonly name: string; readonly url: string | null }[];
  readonly isLimited: boolean;
}

export const usage = `npm run bench -- [row ...] [--peer name | --peer name=url ...] [--cgroup]
  rows: ${rows.map(({ name }) => name).join(', ')}; all by default
  peers by name: ${Object.keys(startedPeers).join(', ')}; by address: ${Object.keys(addressedPeers).join(', ')}
  --cgroup: each server has half a core and 512 MiB`;

/** Throws an Error of one sentence for an invalid command line. */
export function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { peer: { type: 'string', multiple: true, default: [] }, cgroup: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const unknown = positionals.find((word) => !rows.some(({ name }) => name === word));
  if (unknown !== undefined) throw new Error(`no row is called ${unknown}`);
  return {
    rows: positionals.length === 0 ? rows : rows.filter(({ name }) => positionals.includes(name)),
    peers: values.peer.map(readPeer),
    isLimited: values.cgroup,
  };
}

function readPeer(text: string): Options['peers'][number] {
  const [, name = text, url = null] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (!(name in (url === null ? startedPeers : addressedPeers))) {
    throw new Error(
      url === null ? `${name} is not a peer that starts by name` : `${name} is not a peer with an address`,
    );
  }
  return { name, url: url === null ? null : new URL(url).origin };
}
