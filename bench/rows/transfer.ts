/** Measures uploads and downloads: 256 MiB at once, and 1 MiB back and forth. */
import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atLeast } from '../measurement.ts';
import { openNginx } from '../peers/nginx.ts';
import type { FileTransfer } from '../peers/peer.ts';
import { inTurns } from '../turns.ts';
import type { Row } from './row.ts';

const rounds = 5;
const sizeMib = 256;
const trips = 20;

interface Moving {
  readonly name: string;
  readonly files: FileTransfer;
}

export const transfer: Row = {
  name: 'transfer',
  async measure({ contestants }) {
    const directory = mkdtempSync(join(tmpdir(), 'boxkeep-bench-'));
    mkdirSync(join(directory, 'bodies'));
    try {
      await using nginx = await openNginx(directory);
      const moving = [...contestants.flatMap(({ name, files }) => (files ? [{ name, files }] : [])), nginx];
      const source = join(directory, 'source');
      writeRandom(source, sizeMib);
      const download = await inTurns(moving, rounds, (one) => downloadOnce(one, source));
      const upload = await inTurns(moving, rounds, (one) => uploadOnce(one, source, directory));
      const roundTrip = await inTurns(moving, rounds, (one) => thereAndBack(one, directory));
      return [
        { title: '256 MiB downloaded', unit: 'MiB/s', goals: [atLeast(0.8, 'nginx')], samples: download },
        { title: '256 MiB uploaded', unit: 'MiB/s', goals: [atLeast(1, 'envd')], samples: upload },
        { title: '1 MiB uploaded and downloaded', unit: 'ms', goals: [], samples: roundTrip },
      ];
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
};

function writeRandom(path: string, mib: number): void {
  const file = openSync(path, 'w');
  for (let i = 0; i < mib; i++) writeSync(file, randomBytes(2 ** 20));
  closeSync(file);
}

async function downloadOnce({ name, files }: Moving, path: string): Promise<number[]> {
  const startedMs = performance.now();
  const response = await files.download(path);
  let bytes = 0;
  for await (const piece of response.body as ReadableStream<Uint8Array>) bytes += piece.length;
  if (bytes !== sizeMib * 2 ** 20) throw new Error(`${name}: ${bytes} bytes arrived of ${sizeMib} MiB`);
  return [sizeMib / ((performance.now() - startedMs) / 1000)];
}

async function uploadOnce({ name, files }: Moving, source: string, directory: string): Promise<number[]> {
  const target = join(directory, `from-${name}`);
  const startedMs = performance.now();
  await files.upload(target, Bun.file(source));
  const seconds = (performance.now() - startedMs) / 1000;
  if (Bun.file(target).size !== sizeMib * 2 ** 20) throw new Error(`${name}: the file is not there as it was sent`);
  rmSync(target);
  return [sizeMib / seconds];
}

async function thereAndBack({ name, files }: Moving, directory: string): Promise<number[]> {
  const content = new Blob([randomBytes(2 ** 20)]);
  const took: number[] = [];
  for (let trip = 0; trip < trips; trip++) {
    const path = join(directory, `trip-${name}`);
    const startedMs = performance.now();
    await files.upload(path, content);
    const back = await (await files.download(path)).arrayBuffer();
    took.push(performance.now() - startedMs);
    if (back.byteLength !== content.size) throw new Error(`${name}: ${back.byteLength} bytes came back of 1 MiB`);
  }
  return took;
}
