/** The blocks of docs/guide/desktop.md run as written, on a display with an xterm as the guide has it. */
import { afterAll, beforeAll } from 'bun:test';
import { ComputerWorker } from '../harness/computer-worker.ts';
import { TestDisplay } from '../harness/display.ts';
import { runBlocks, shellBlocksOf } from '../harness/document.ts';
import { needPrograms } from '../harness/programs.ts';
import { expect, test } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const guide = 'docs/guide/desktop.md';

let display: TestDisplay;
let worker: ComputerWorker;

beforeAll(async () => {
  needPrograms('curl', 'ffmpeg', 'xterm');
  display = await TestDisplay.start();
  worker = await ComputerWorker.start({ env: display.environment });
});
afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await display[Symbol.asyncDispose]();
});

test(
  'the blocks of the guide see a desktop, act on it and record it',
  async ({ sandbox }) => {
    display.spawn(['xterm']);
    const windows = async () => (await sandbox.ok('GET /v2/computer/windows'))['windows'] as unknown[];
    await until('the xterm is there', async () => (await windows()).length > 0);
    const blocks = shellBlocksOf(guide).filter(({ reason }) => reason === null);
    expect(blocks.length).toBeGreaterThan(2);
    await runBlocks(guide, blocks, sandbox);
  },
  { env: () => worker.environment },
);
