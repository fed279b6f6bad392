/** Measures 1000 followers of a command that writes 1 MB/s: a stalled follower must not delay the others. */
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { must } from '../install.ts';
import { atMost, budget, subject } from '../measurement.ts';
import { startCommand } from '../peers/boxkeep.ts';
import { forgetPeak, peakMib } from '../processes.ts';
import { within } from '../within.ts';
import type { Row } from './row.ts';

const followers = 1000;
const blockBytes = 100_000;
const blockMs = 100;
const blocksInPhase = 10;
const rounds = 2;
/** Ends each block, and occurs nowhere else in the output. */
const mark = '~';
const text = `${'x'.repeat(blockBytes - 2)}${mark}\n`;
const attachLimitMs = 20_000;
const phaseLimitMs = 60_000;

export const followersRow: Row = {
  name: 'followers',
  async measure({ openBoxkeep }) {
    await using server = await openBoxkeep();
    const directory = mkdtempSync(join(tmpdir(), 'boxkeep-bench-'));
    const path = join(directory, 'pipe');
    must(['mkfifo', path]);
    const pipe = openSync(path, 'r+');
    const { command_id: id } = await startCommand(server.url, { command: `cat ${path}`, shell: 'sh', mode: 'async' });
    forgetPeak(server.pids);
    const audience = await Audience.attach(server.url, id);
    const delays = { calm: [] as number[], stalled: [] as number[] };
    await audience.hearPhase(pipe); // Warm-up.
    for (let round = 0; round < rounds; round++) {
      delays.calm.push(...(await audience.hearPhase(pipe)));
      audience.stallOne();
      delays.stalled.push(...(await audience.hearPhase(pipe)));
      audience.resumeOne();
    }
    const peak = peakMib(server.pids);
    audience.leave();
    closeSync(pipe);
    rmSync(directory, { recursive: true });
    return [
      {
        title: 'until 999 followers have a block, one more stalled',
        unit: 'ms',
        goals: [atMost(1.2, 'none stalled')],
        samples: { [subject]: delays.stalled, 'none stalled': delays.calm },
      },
      { title: 'resident at the peak of it', unit: 'MiB', goals: [budget(150)], samples: { [subject]: [peak] } },
    ];
  },
};

type Socket = Awaited<ReturnType<typeof Bun.connect>>;

interface Block {
  readonly writtenMs: number;
  heard: number;
  readonly delay: PromiseWithResolvers<number>;
}

/** Plain sockets: the client reads 1 GB/s and must leave as much processor time as possible to the server. */
class Audience {
  readonly #sockets: Socket[] = [];
  readonly #blocks: Block[] = [];

  static async attach(url: string, id: string): Promise<Audience> {
    const audience = new Audience();
    const { hostname, port, host } = new URL(url);
    const request = `GET /v2/commands/${id}?stream=true HTTP/1.1\r\nhost: ${host}\r\n\r\n`;
    let attached = 0;
    const all = Promise.withResolvers<void>();
    const join = (): Promise<Socket> => {
      let heardBlocks = 0;
      let isAttached = false;
      return Bun.connect({
        hostname,
        port: Number(port),
        socket: {
          open: (socket) => void socket.write(request),
          data: (_socket, bytes) => {
            heardBlocks = audience.#hear(bytes, heardBlocks);
            if (!isAttached && ++attached === followers) all.resolve();
            isAttached = true;
          },
          error: (_socket, error) => all.reject(error),
        },
      });
    };
    for (let index = 0; index < followers; index++) audience.#sockets.push(await join());
    await within(attachLimitMs, 'the attaching of followers', all.promise);
    return audience;
  }

  /** Writes some blocks at 1 MB/s. Returns how long each block took to reach all followers but one. */
  async hearPhase(pipe: number): Promise<number[]> {
    const written: Block[] = [];
    for (let count = 0; count < blocksInPhase; count++) {
      const next = Bun.sleep(blockMs);
      const block = { writtenMs: performance.now(), heard: 0, delay: Promise.withResolvers<number>() };
      this.#blocks.push(block);
      written.push(block);
      writeSync(pipe, text);
      await next;
    }
    return within(phaseLimitMs, 'a phase of the followers', Promise.all(written.map(({ delay }) => delay.promise)));
  }

  stallOne(): void {
    this.#sockets[0]?.pause();
  }

  resumeOne(): void {
    this.#sockets[0]?.resume();
  }

  leave(): void {
    for (const socket of this.#sockets) socket.end();
  }

  #hear(bytes: Uint8Array, heardBlocks: number): number {
    const code = mark.charCodeAt(0);
    for (let at = bytes.indexOf(code); at !== -1; at = bytes.indexOf(code, at + 1)) {
      const block = this.#blocks[heardBlocks++];
      if (block && ++block.heard === followers - 1) block.delay.resolve(performance.now() - block.writtenMs);
    }
    return heardBlocks;
  }
}
