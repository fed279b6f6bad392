/** A file of 4 GiB in and out: what the server grows by meanwhile, and that it is the same file. */
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
  async measure({ openSandboxd }) {
    const directory = mkdtempSync(join(tmpdir(), 'sandboxd-bench-'));
    try {
      await using sandboxd = await openSandboxd();
      const [source, target] = [join(directory, 'source'), join(directory, 'target')];
      const { files, pids } = sandboxd;
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
        { title: 'growth while 4 GiB come in', unit: 'MiB', goals: [budget(32)], samples: { sandboxd: [incoming] } },
        { title: 'growth while 4 GiB go out', unit: 'MiB', goals: [budget(32)], samples: { sandboxd: [outgoing] } },
      ];
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
};

/** Random here and there, and nothing between. */
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
