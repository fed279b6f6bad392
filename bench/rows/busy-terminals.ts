/** Measures terminals that all print at once: the delay of a key, and the joint throughput. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atLeast, atMost } from '../measurement.ts';
import { terminalsOf } from '../peers/boxkeep-terminals.ts';
import { OpenTerminal, type TerminalServer } from '../peers/terminal.ts';
import { openTtyd } from '../peers/ttyd.ts';
import { inTurns } from '../turns.ts';
import { within } from '../within.ts';
import type { Row } from './row.ts';

const rounds = 2;
const width = 50;
/** Each terminal repeatedly prints a block and waits. Together they print 8 MiB a second. */
const blockBytes = 8192;
const blocks = 40;
const blockSeconds = 0.05;
const keyEveryMs = 5;
const floodBytes = 2_000_000;
const limitMs = 60_000;
/** Occurs nowhere in the printed text. */
const key = 'K';

export const busyTerminals: Row = {
  name: 'busy-terminals',
  async measure({ openBoxkeep }) {
    const most = width * 2 * (rounds + 1);
    await using boxkeep = await openBoxkeep('--shell-backend', 'native', '--shell-max-sessions', String(most));
    await using ttyd = await openTtyd();
    const servers = [terminalsOf(boxkeep), ...(ttyd ? [ttyd] : [])];
    const directory = mkdtempSync(join(tmpdir(), 'boxkeep-bench-'));
    const text = join(directory, 'text');
    writeFileSync(text, 'x'.repeat(floodBytes));
    let count = 0;
    const start = () => join(directory, `start-${count++}`);
    const echo = await inTurns(servers, rounds, (server) => typeAmong(server, start()));
    const speed = await inTurns(servers, rounds, async (server) => [await flood(server, text, start())]);
    rmSync(directory, { recursive: true });
    return [
      { title: `key to its echo while ${width} print`, unit: 'ms', goals: [atMost(1, 'ttyd')], samples: echo },
      {
        title: `${width} × ${floodBytes / 1e6} MB by cat at once`,
        unit: 'MiB/s',
        goals: [atLeast(1, 'ttyd')],
        samples: speed,
      },
    ];
  },
};

/** Types into one of the terminals until all have printed. */
async function typeAmong(server: TerminalServer, start: string): Promise<number[]> {
  const makeBlock = `printf -v b "%*s" ${blockBytes - 1}; b=\${b// /x}`;
  const print = `for ((i = 0; i < ${blocks}; i++)); do echo "$b"; read -t ${blockSeconds} -u 9; done`;
  using crowd = await Crowd.open(server, makeBlock, start, print);
  const took: number[] = [];
  const all = crowd.run(blocks * blockBytes);
  while (crowd.isPrinting) {
    const typedMs = performance.now();
    await crowd.type();
    took.push(performance.now() - typedMs);
    await Bun.sleep(keyEveryMs);
  }
  await all;
  return took;
}

async function flood(server: TerminalServer, text: string, start: string): Promise<number> {
  using crowd = await Crowd.open(server, 'true', start, `cat ${text}`);
  const startedMs = performance.now();
  await crowd.run(floodBytes);
  return (width * floodBytes) / 2 ** 20 / ((performance.now() - startedMs) / 1000);
}

/** Terminals that start to print when a file exists. */
class Crowd implements Disposable {
  readonly #shells: OpenTerminal[] = [];
  readonly #all = Promise.withResolvers<void>();
  #printing = width;
  #onKey: () => void = () => undefined;

  private constructor(private readonly start: string) {}

  static async open(server: TerminalServer, prepare: string, start: string, print: string): Promise<Crowd> {
    const crowd = new Crowd(start);
    const wait = `until [ -e ${start} ]; do read -t ${blockSeconds} -u 9; done`;
    const script = `exec 9<> <(:); ${prepare}; echo REA""DY; ${wait}; ${print}; exec cat >/dev/null\r`;
    for (let index = 0; index < width; index++) {
      const shell = await OpenTerminal.open(server.terminal);
      crowd.#shells.push(shell);
      await within(limitMs, `a shell of ${server.name}`, shell.begins());
      // Only the first terminal echoes typed text.
      const line = `stty -opost ${index === 0 ? 'echo' : '-echo'}; ${script}`;
      await within(limitMs, `the script in ${server.name}`, shell.shows('READY\n', line));
    }
    return crowd;
  }

  get isPrinting(): boolean {
    return this.#printing > 0;
  }

  /** Resolves when each terminal has shown all its bytes. Rejects when one shows more, or on timeout. */
  async run(bytesOfEach: number): Promise<void> {
    for (const shell of this.#shells) this.#count(shell, bytesOfEach);
    writeFileSync(this.start, '');
    try {
      await within(limitMs, 'what all terminals print', this.#all.promise);
    } finally {
      this.#printing = 0;
      this.#onKey(); // Releases a caller that still waits for a key.
    }
  }

  /** Resolves when the key is shown. */
  async type(): Promise<void> {
    const shown = new Promise<void>((resolve) => (this.#onKey = resolve));
    this.#shells[0]?.type(key);
    await shown;
  }

  #count(shell: OpenTerminal, bytes: number): void {
    let left = bytes;
    shell.onOutput = (piece) => {
      const keys = Buffer.from(piece.buffer, piece.byteOffset, piece.length).includes(key) ? 1 : 0;
      if (keys > 0) this.#onKey();
      const wasLeft = left;
      left -= piece.length - keys;
      if (left < 0) this.#all.reject(new Error('a terminal has shown more than was printed'));
      if (left === 0 && wasLeft > 0 && --this.#printing === 0) this.#all.resolve();
    };
  }

  [Symbol.dispose](): void {
    for (const shell of this.#shells) shell[Symbol.dispose]();
  }
}
