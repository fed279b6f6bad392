/** Measures a shell over a WebSocket: the delay of a key, and the throughput of a large file. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atLeast, atMost } from '../measurement.ts';
import { terminalsOf } from '../peers/boxkeep-terminals.ts';
import { OpenTerminal, type TerminalServer } from '../peers/terminal.ts';
import { openTtyd } from '../peers/ttyd.ts';
import { inTurns } from '../turns.ts';
import type { Row } from './row.ts';

const rounds = 3;
const keysInTurn = 200;
const sizeMb = 50;
const line = 'the quick brown fox jumps over the lazy dog, and again, and once more over it\n';

export const terminal: Row = {
  name: 'terminal',
  async measure({ openBoxkeep }) {
    await using boxkeep = await openBoxkeep('--shell-backend', 'native');
    await using inTmux = Bun.which('tmux') === null ? null : await openBoxkeep('--shell-backend', 'tmux');
    await using ttyd = await openTtyd();
    const tmux = inTmux ? [{ ...terminalsOf(inTmux), name: 'in tmux' }] : [];
    const servers = [terminalsOf(boxkeep), ...tmux, ...(ttyd ? [ttyd] : [])];
    const directory = mkdtempSync(join(tmpdir(), 'boxkeep-bench-'));
    const path = join(directory, 'text');
    writeFileSync(path, line.repeat((sizeMb * 1e6) / line.length));
    const echo = await inTurns(servers, rounds, (server) => echoes(server));
    const speed = await inTurns(servers, rounds, async (server) => [await pour(server, path)]);
    rmSync(directory, { recursive: true });
    return [
      { title: 'key to its echo', unit: 'ms', goals: [atMost(1, 'ttyd')], samples: echo },
      { title: `${sizeMb} MB shown by cat`, unit: 'MiB/s', goals: [atLeast(1, 'ttyd')], samples: speed },
    ];
  },
};

async function echoes(server: TerminalServer): Promise<number[]> {
  using shell = await OpenTerminal.open(server.terminal);
  await shell.shows('READY', 'echo REA""DY; cat >/dev/null\r');
  const took: number[] = [];
  for (let key = 0; key < keysInTurn; key++) {
    const typedMs = performance.now();
    await shell.shows('k', 'k');
    took.push(performance.now() - typedMs);
  }
  return took;
}

async function pour(server: TerminalServer, path: string): Promise<number> {
  using shell = await OpenTerminal.open(server.terminal);
  await shell.shows('READY', 'stty -opost -echo; echo REA""DY\r');
  const startedMs = performance.now();
  const bytes = await shell.shows('DONE', `cat ${path}; echo DO""NE\r`);
  return bytes / 2 ** 20 / ((performance.now() - startedMs) / 1000);
}
