/** How long a written line is under way to who follows the output: a pipe is written to here and read by the command. */
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { must } from '../install.ts';
import { atMost } from '../measurement.ts';
import { inTurns } from '../turns.ts';
import type { Row } from './row.ts';

const rounds = 4;
const linesInTurn = 10;
const line = 'a line of output\n';

export const firstByte: Row = {
  name: 'first-byte',
  async measure({ contestants }) {
    const followed = contestants.flatMap(({ name, follow }) => (follow ? [{ name, follow }] : []));
    const samples = await inTurns(followed, rounds, ({ follow }) => delays(follow));
    return [{ title: 'first byte of output after the write', unit: 'ms', goals: [atMost(3)], samples }];
  },
};

async function delays(follow: (script: string) => AsyncIterable<number>): Promise<number[]> {
  const directory = mkdtempSync(join(tmpdir(), 'sandboxd-bench-'));
  const path = join(directory, 'pipe');
  must(['mkfifo', path]);
  const pipe = openSync(path, 'r+'); // For both, so that opening waits for nobody.
  const taken: number[] = [];
  let writtenMs = performance.now();
  const write = (): void => {
    writtenMs = performance.now();
    writeSync(pipe, line);
  };
  write();
  for await (const bytes of follow(`cat ${path}`)) {
    if (bytes !== line.length) throw new Error(`${bytes} bytes arrived in place of a line`);
    taken.push(performance.now() - writtenMs);
    if (taken.length <= linesInTurn) write();
    else closeSync(pipe); // Which ends the command.
  }
  rmSync(directory, { recursive: true });
  return taken.slice(1); // The first line waits for the start of the command.
}
