/** The blocks of docs/recipes that need a browser, a desktop or packages run as written, in a clone as readers have it. */
import { afterAll, beforeAll } from 'bun:test';
import { Chromium } from '../harness/chromium.ts';
import { ComputerWorker } from '../harness/computer-worker.ts';
import { TestDisplay } from '../harness/display.ts';
import { runBlocks, shellBlocksOf } from '../harness/document.ts';
import { needPython } from '../harness/interpreters.ts';
import { needPrograms } from '../harness/programs.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

let python = '';
let chromium: Chromium;
let display: TestDisplay;
let worker: ComputerWorker;

beforeAll(async () => {
  needPrograms('curl', 'node', 'python3', 'tar', 'xterm');
  python = needPython('code');
  chromium = await Chromium.start();
  display = await TestDisplay.start({ width: 1280, height: 800 });
  worker = await ComputerWorker.start({ env: display.environment });
});
afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await display[Symbol.asyncDispose]();
  await chromium[Symbol.asyncDispose]();
});

const options = {
  env: () => ({
    ...{ PATH: `${python}/bin:${process.env['PATH']}`, SVC_BROWSER_IDLE_SECONDS: '1' },
    ...chromium.environment,
    ...worker.environment,
  }),
};

/** The reader is in a clone: programs and examples are there under the names that the recipes have. */
const clone = 'cp -r "$REPOSITORY/examples" . && ln -s "$REPOSITORY/clients" "$REPOSITORY/node_modules" .';

async function runRecipe(path: string, sandbox: Sandbox): Promise<void> {
  const blocks = shellBlocksOf(path).filter(({ reason }) => reason === null);
  expect(blocks.length).toBeGreaterThan(0);
  const [first, ...others] = blocks;
  await runBlocks(path, [{ ...first!, prepare: clone }, ...others], sandbox);
}

test(
  'CODE-1 CODE-5 a table and a plot of a file',
  ({ sandbox }) => runRecipe('docs/recipes/data-analysis.md', sandbox),
  options,
);

test(
  'CLIENT-TASKS an agent repairs a project',
  ({ sandbox }) => runRecipe('docs/recipes/coding-agent.md', sandbox),
  options,
);

test(
  'CLIENT-TASKS an agent orders on a page',
  ({ sandbox }) => runRecipe('docs/recipes/browser-task.md', sandbox),
  options,
);

test(
  'DESK-1 an agent uses a desktop in three vocabularies',
  async ({ sandbox }) => {
    display.spawn(['xterm']);
    await until('the xterm is there', async () => {
      const { windows } = await sandbox.ok('GET /v2/computer/windows');
      return windows.length > 0;
    });
    await runRecipe('docs/recipes/computer-use.md', sandbox);
  },
  options,
);
