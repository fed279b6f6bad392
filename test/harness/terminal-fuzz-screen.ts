/** Compares the screen of a fuzzed session with a reference terminal, whatever the session has shown before. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { Mismatch } from './terminal-fuzz-bytes.ts';
import type { FuzzedDaemon } from './terminal-fuzz-daemon.ts';
import type { FuzzedSession } from './terminal-fuzz-session.ts';
import { feeder, ReferenceTerminal } from './reference-terminal.ts';
import type { JsonObject } from './sandbox.ts';
import { mixes } from './terminal-sequences.ts';
import { until } from './until.ts';

/** The size that the mixes are made for. */
const size = { cols: 40, rows: 12 };
/** Ends an unfinished sequence and resets all modes. */
const reset = '\x18\x1b\\\x1bc\x1b[3J';

export async function compareScreen(daemon: FuzzedDaemon, session: FuzzedSession, seed: number): Promise<void> {
  const { directory } = daemon.sandbox;
  const [mix = ''] = fc.sample(mixes, { seed, numRuns: 1 });
  await daemon.ask(`PATCH ${session.path}`, 200, size);
  session.emit(Buffer.from(`${reset}${mix}\x1b]2;shown\x07`));
  const pipe = join(directory, `${session.id}-reference`);
  spawnSync('mkfifo', [pipe]);
  using reference = new ReferenceTerminal(directory, session.id, size.cols, size.rows, feeder(pipe));
  await reference.titled('ready');
  writeFileSync(pipe, `${mix}\x1b]2;shown\x07`);
  await reference.titled('shown');
  let screen: JsonObject = {};
  await until(`the screen of ${session.id} shows it`, async () => {
    screen = await daemon.ask(`GET ${session.path}/screen`, 200);
    return screen['title'] === 'shown';
  });
  const { lines, cursor } = reference.read();
  const own = { lines: (screen['lines'] as string[]).map((line) => line.trimEnd()), cursor: screen['cursor'] };
  const expected = { lines, cursor: { ...cursor, x: Math.min(cursor.x, size.cols - 1) } };
  if (Bun.deepEquals(own, expected)) return;
  throw new Mismatch(`${session.id} shows ${JSON.stringify(own)} in place of ${JSON.stringify(expected)}`);
}
