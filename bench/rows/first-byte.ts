/**
 * Measures how long a written line takes to reach a follower.
 *
 * The bench writes to a pipe that the command reads.
 */
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { must } from '../install.ts';
import { atMost } from '../measurement.ts';
import { inTurns } from '../turns.ts';
import type { Row } from './row.ts';

const rounds = 4;
/** Enough for the round that does not count to bring all code into the state in which a used server has it. */
const linesInTurn = 100;
const line = 'a line of output\n';

export const firstByte: Row = {
  name: 'first-byte',
  async measure({ contestants }) {
    const followed = contestants.flatMap(({ name, follow }) => (follow ? [{ name, follow }] : []));
    const samples = await inTurns(followed, rounds, ({ follow }) => delays(follow));
    return [{ title: 'first byte of output after the write', unit: 'ms', goals: [atMost(0.2)], samples }];
  },
};

async function delays(follow: (script: string) => AsyncIterable<number>): Promise<number[]> {
  const directory = mkdtempSync(join(tmpdir(), 'boxkeep-bench-'));
  const path = join(directory, 'pipe');
  must(['mkfifo', path]);
  const pipe = openSync(path, 'r+'); // Opened for reading and writing, so that opening does not block.
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
    else closeSync(pipe); // Closing the pipe ends the command.
  }
  rmSync(directory, { recursive: true });
  return taken.slice(1); // The first line also waits for the start of the command.
}
