/** `boxkeep screenshot`, as a shell sees it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'bun:test';
import { client } from '../harness/cli-client.ts';
import { Chromium } from '../harness/chromium.ts';
import { ComputerWorker } from '../harness/computer-worker.ts';
import { TestDisplay } from '../harness/display.ts';
import { expect, test } from '../harness/sandbox.ts';

let chromium: Chromium;
let display: TestDisplay;
let worker: ComputerWorker;

beforeAll(async () => {
  chromium = await Chromium.start();
  display = await TestDisplay.start();
  worker = await ComputerWorker.start({ env: display.environment });
});
afterAll(async () => {
  await chromium[Symbol.asyncDispose]();
  await worker[Symbol.asyncDispose]();
  await display[Symbol.asyncDispose]();
});

const magic = { png: 'PNG', jpg: '\u00ff\u00d8\u00ff', jpeg: '\u00ff\u00d8\u00ff', webp: 'WEBP' };

test(
  'CLI-SCREENSHOT screenshot saves the desktop or a page in the format of the name, and says its size',
  async ({ sandbox }) => {
    for (const [format, mark] of Object.entries(magic)) {
      for (const flags of format === 'webp' ? [[]] : [[], ['--page']]) {
        const file = join(sandbox.directory, `picture.${format}`);
        const run = await client(sandbox, ['screenshot', sandbox.url, file, ...flags]);
        expect(run).toMatchObject({ code: 0, stderr: '' });
        const bytes = readFileSync(file);
        expect(run.stdout.toString()).toMatch(new RegExp(`^${file}: \\d+x\\d+, ${bytes.length} bytes\n$`));
        expect(bytes.subarray(0, 16).toString('latin1')).toContain(mark);
      }
    }
    const file = join(sandbox.directory, 'small.png');
    const small = await client(sandbox, ['screenshot', sandbox.url, file, '--scale', '640x400', '--json']);
    expect(JSON.parse(small.stdout.toString())).toMatchObject({
      ...{ file, type: 'image/png', width: 640, height: 400, screen_width: 1280, screen_height: 800 },
    });
    const piped = await client(sandbox, ['screenshot', sandbox.url, '-']);
    expect(piped.stdout.subarray(1, 4).toString()).toBe('PNG');
    for (const [args, line] of [
      [['a.gif'], 'the name of the file ends with .png, .jpg, .jpeg, .webp'],
      [['a.webp', '--page'], 'the name of the file ends with .png, .jpg, .jpeg'],
      [['-', '--json'], '--json and - both write to standard output'],
      [[join(sandbox.directory, 'none/a.png')], `${sandbox.directory}/none/a.png: No such file or directory`],
    ] as const) {
      const refused = await client(sandbox, ['screenshot', sandbox.url, ...args]);
      expect(refused).toMatchObject({ code: 125, stderr: `boxkeep: screenshot: ${line}\n` });
    }
  },
  { env: () => ({ SVC_BROWSER_IDLE_SECONDS: '1', ...chromium.environment, ...worker.environment }) },
);
