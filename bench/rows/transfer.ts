/** Measures uploads and downloads: a large file, and 1 MiB back and forth. */
import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atLeast, type Measurement } from '../measurement.ts';
import { openNginx } from '../peers/nginx.ts';
import type { FileTransfer, Mover } from '../peers/peer.ts';
import { inTurns, timed } from '../turns.ts';
import type { Row } from './row.ts';

const rounds = 5;
const sizeMib = 256;
const trips = 20;

export const transfer: Row = {
  name: 'transfer',
  async measure({ contestants }) {
    const directory = mkdtempSync(join(tmpdir(), 'boxkeep-bench-'));
    mkdirSync(join(directory, 'bodies'));
    try {
      await using nginx = await openNginx(directory);
      const movers = [...contestants, nginx].flatMap(({ name, files }) => (files ? [moverOf(name, files)] : []));
      const [download, upload, roundTrip] = await measureTransfers(movers, sizeMib, directory);
      return [{ ...download, goals: [atLeast(0.8, 'nginx')] }, { ...upload, goals: [atLeast(1, 'envd')] }, roundTrip];
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
};

export function moverOf(name: string, files: FileTransfer): Mover {
  return {
    name,
    upload: (target, source) => files.upload(target, Bun.file(source)),
    async download(path) {
      const { body } = await files.download(path);
      let bytes = 0;
      for await (const piece of body as ReadableStream<Uint8Array>) bytes += piece.length;
      return bytes;
    },
  };
}

/** In a directory that all servers reach. */
export async function measureTransfers(
  movers: readonly Mover[],
  mib: number,
  directory: string,
): Promise<[Measurement, Measurement, Measurement]> {
  const large = join(directory, 'large');
  writeRandom(large, mib);
  const small = join(directory, 'small');
  writeRandom(small, 1);
  const download = await inTurns(movers, rounds, (mover) => downloadOnce(mover, large, mib));
  const upload = await inTurns(movers, rounds, (mover) => uploadOnce(mover, large, mib));
  const roundTrip = await inTurns(movers, rounds, (mover) => thereAndBack(mover, small));
  return [
    { title: `${mib} MiB downloaded`, unit: 'MiB/s', goals: [], samples: download },
    { title: `${mib} MiB uploaded`, unit: 'MiB/s', goals: [], samples: upload },
    { title: '1 MiB uploaded and downloaded', unit: 'ms', goals: [], samples: roundTrip },
  ];
}

function writeRandom(path: string, mib: number): void {
  const file = openSync(path, 'w');
  for (let i = 0; i < mib; i++) writeSync(file, randomBytes(2 ** 20));
  closeSync(file);
}

async function downloadOnce({ name, download }: Mover, path: string, mib: number): Promise<number[]> {
  const [took = NaN] = await timed(1, async () => assertSize(name, await download(path), mib));
  return [mib / (took / 1000)];
}

async function uploadOnce({ name, upload }: Mover, source: string, mib: number): Promise<number[]> {
  const target = `${source}-from-${name}`;
  const [took = NaN] = await timed(1, () => upload(target, source));
  assertSize(name, Bun.file(target).size, mib);
  rmSync(target);
  return [mib / (took / 1000)];
}

async function thereAndBack({ name, upload, download }: Mover, source: string): Promise<number[]> {
  const target = `${source}-from-${name}`;
  return await timed(trips, async () => {
    await upload(target, source);
    assertSize(name, await download(target), 1);
  });
}

function assertSize(name: string, bytes: number, mib: number): void {
  if (bytes !== mib * 2 ** 20) throw new Error(`${name}: ${bytes} bytes arrived of ${mib} MiB`);
}
