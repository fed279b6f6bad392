/** Transfers a file of 4 GiB in and out: measures the server's growth and compares the content. */
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { budget } from '../measurement.ts';
import { forgetPeak, peakMib, residentMib } from '../processes.ts';
import type { Row } from './row.ts';

const sizeBytes = 4 * 2 ** 30;
const everyBytes = 64 * 2 ** 20;

export const largeFile: Row = {
  name: 'large-file',
  async measure({ openBoxkeep }) {
    const directory = mkdtempSync(join(tmpdir(), 'boxkeep-bench-'));
    try {
      await using boxkeep = await openBoxkeep();
      const [source, target] = [join(directory, 'source'), join(directory, 'target')];
      const { files, pids } = boxkeep;
      if (!files) throw new Error('the daemon moves no files');
      writeSparse(source);
      const growth = async (work: () => Promise<void>) => {
        const before = residentMib(pids);
        forgetPeak(pids);
        await work();
        return peakMib(pids) - before;
      };
      const incoming = await growth(() => files.upload(target, Bun.file(source)));
      let arrived = '';
      const outgoing = await growth(async () => {
        arrived = await sha256Of((await files.download(target)).body as ReadableStream<Uint8Array>);
      });
      if (arrived !== (await sha256Of(Bun.file(source).stream()))) throw new Error('the file came back as another one');
      return [
        { title: 'growth while 4 GiB come in', unit: 'MiB', goals: [budget(32)], samples: { boxkeep: [incoming] } },
        { title: 'growth while 4 GiB go out', unit: 'MiB', goals: [budget(32)], samples: { boxkeep: [outgoing] } },
      ];
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
};

/** Writes random blocks at intervals, with holes between them. */
function writeSparse(path: string): void {
  const file = openSync(path, 'w');
  ftruncateSync(file, sizeBytes);
  for (let at = 0; at < sizeBytes; at += everyBytes) writeSync(file, randomBytes(100_000), 0, 100_000, at);
  closeSync(file);
}

async function sha256Of(stream: ReadableStream<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of stream) hash.update(piece);
  return hash.digest('hex');
}
