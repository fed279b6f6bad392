/** All views of the console at once, beside an agent at work and kills of the daemon. `npm run soak -- console` takes 30 minutes. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'bun:test';
import type { CDPSession, Page } from 'playwright-core';
import { Sandbox as Box } from '../../clients/typescript/src/index.ts';
import { TestBrowser, type TestPage } from '../harness/browser.ts';
import { Chromium } from '../harness/chromium.ts';
import { ColourWindow } from '../harness/colour-window.ts';
import { ComputerWorker } from '../harness/computer-worker.ts';
import { ConsolePage } from '../harness/console-page.ts';
import { TestDisplay } from '../harness/display.ts';
import { showFigures } from '../harness/figures.ts';
import { LiveView } from '../harness/live-view.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { withPlainShell } from '../harness/v1-shell.ts';
import { whileKilled } from '../harness/while-killed.ts';

const seconds = Number(process.env['BOXKEEP_CONSOLE_SECONDS'] ?? 15);
const killEveryMs = seconds < 120 ? 5000 : 60_000;
const maxGrowthMib = 50;
const green = [0, 255, 0] as const;

let chromium: Chromium;
let display: TestDisplay;
let worker: ComputerWorker;
let window: ColourWindow;
let browser: TestBrowser;

beforeAll(async () => {
  chromium = await Chromium.start();
  display = await TestDisplay.start();
  worker = await ComputerWorker.start({ env: display.environment });
  window = ColourWindow.open(display, '#f00');
  browser = await TestBrowser.launch();
});
afterAll(async () => {
  await browser[Symbol.asyncDispose]();
  await worker[Symbol.asyncDispose]();
  await display[Symbol.asyncDispose]();
  await chromium[Symbol.asyncDispose]();
});

test(
  'CONSOLE-KILLS no view is stuck, none lacks a byte, and none grows',
  async ({ sandbox }) => {
    const directory = join(sandbox.directory, 'watched');
    mkdirSync(directory, { mode: 0o777 });
    const counted = await sandbox.start({
      command: `i=0; while [ ! -e ${directory}/stop ]; do echo "line $i"; i=$((i+1)); sleep 0.2; done; echo all $i`,
      mode: 'async',
    });
    const terminal = (await sandbox.ok('POST /v2/pty/sessions', { id: 'watched' }))['session_id'] as string;
    const views = new Views(sandbox);
    await views.open({
      '': '',
      overview: '',
      activity: '',
      commands: '',
      command: counted,
      terminal,
      files: directory,
      watch: directory,
      code: '',
      browser: '',
      desktop: '',
      mcp: '',
      api: '',
    });
    const before = await views.heapMib();
    const untilMs = Date.now() + seconds * 1000;
    const [turns, kills] = await whileKilled(sandbox, () => work(sandbox, directory, untilMs), killEveryMs);
    showFigures({ 'turns of the agent': turns, kills });

    // What happens now is seen in each view, after all that happened before.
    await sandbox.ok('POST /v2/fs/write', { path: join(directory, 'stop'), content: '' });
    await views.page('command').getByText('ended with 0').waitFor();
    const output = (await views.page('command').locator('.output').textContent()) ?? '';
    const count = Number(/^all (\d+)$/m.exec(output)?.[1]);
    expect(count).toBeGreaterThan(seconds);
    expect(output).toBe([...Array(count).keys()].map((line) => `line ${line}\n`).join('') + `all ${count}\n`);
    await views.page('watch').getByText('stop').first().waitFor();
    const last = await sandbox.run({ command: 'true last-of-the-agent' });
    for (const view of ['', 'activity', 'commands']) {
      await views
        .page(view)
        .getByText(/last-of-the-agent/)
        .first()
        .waitFor();
    }
    expect(last.exit_code).toBe(0);
    await sandbox.ok('POST /v2/pty/sessions/watched/input', { input: 'echo $((6 * 7))-seen\r' });
    await new ConsolePage(views.page('terminal')).untilScreen(/^42-seen$/m);
    await paint(sandbox, '#0f0');
    await new LiveView(views.page('browser')).untilColour({ x: 100, y: 100 }, green);
    window.show('#0f0');
    await new LiveView(views.page('desktop')).untilColour({ x: 600, y: 400 }, green);
    await views
      .page('overview')
      .locator('figure', { hasText: /Memory [\d.]+ MiB/ })
      .waitFor();
    const growth = (await views.heapMib()).map((mib, index) => mib - (before[index] ?? 0));
    console.log(`growth of each view, MiB: ${growth.map((mib) => mib.toFixed(1)).join(' ')}`);
    expect(Math.max(...growth)).toBeLessThan(maxGrowthMib);
    expect(views.errors).toEqual([]);
    await views.close();
  },
  withPlainShell({
    env: () => ({ ...chromium.environment, ...worker.environment }),
    expectedWarnings: ['started again by init'],
    timeoutMs: (seconds + 120) * 1000,
  }),
);

/** The work of an agent, until this time. Returns the number of its turns. */
async function work(sandbox: Sandbox, directory: string, untilMs: number): Promise<number> {
  const box = await Box.connect(sandbox.url, undefined, { retryMs: 30_000 });
  let turns = 0;
  for (; Date.now() < untilMs; turns++) {
    await box.commands.run(`echo turn ${turns}`);
    await box.files.write(join(directory, `file-${turns % 50}`), `${turns}`);
    await box.commands.run(`rm -f ${directory}/file-${(turns + 25) % 50}`);
    window.show(turns % 2 === 0 ? '#00f' : '#f00');
    await paint(sandbox, turns % 2 === 0 ? '#00f' : '#f00').catch(() => null); // A call that a kill ended.
  }
  return turns;
}

async function paint(sandbox: Sandbox, colour: string): Promise<void> {
  await sandbox.ok('POST /v2/browser/evaluate', { expression: `document.body.style.background = '${colour}'` });
}

/** A tab of the person for each view. */
class Views {
  readonly #opened = new Map<string, { readonly tab: TestPage; readonly session: CDPSession }>();

  constructor(private readonly sandbox: Sandbox) {}

  async open(rests: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, rest] of Object.entries(rests)) {
      const tab = await browser.open({ viewport: { width: 1024, height: 800 } });
      const session = await tab.page.context().newCDPSession(tab.page);
      this.#opened.set(name, { tab, session });
      const path = rest.split('/').map(encodeURIComponent).join('/');
      await tab.page.goto(`${this.sandbox.url}/#/${name}${path && `/${path}`}`);
      await tab.page.locator('.view > *').first().waitFor();
    }
  }

  page(name: string): Page {
    return this.#opened.get(name)!.tab.page;
  }

  get errors(): string[] {
    return [...this.#opened].flatMap(([name, { tab }]) => tab.errors.map((error) => `${name}: ${error}`));
  }

  /** What is in use of each heap after a collection. */
  async heapMib(): Promise<number[]> {
    const sizes = [...this.#opened.values()].map(async ({ session }) => {
      await session.send('HeapProfiler.collectGarbage');
      return (await session.send('Runtime.getHeapUsage')).usedSize / 2 ** 20;
    });
    return await Promise.all(sizes);
  }

  async close(): Promise<void> {
    for (const { tab } of this.#opened.values()) await tab[Symbol.asyncDispose]();
  }
}
