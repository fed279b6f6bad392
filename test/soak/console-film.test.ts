/** A walk through the console, filmed by the daemon's own recorder; `npm run film` keeps the film. */
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'bun:test';
import { chromium, type Browser, type Page } from 'playwright-core';
import { AccessibleDesktop } from '../harness/accessible-desktop.ts';
import { Chromium } from '../harness/chromium.ts';
import { ComputerWorker } from '../harness/computer-worker.ts';
import { TestDisplay } from '../harness/display.ts';
import { FilmedPerson } from '../harness/filmed-person.ts';
import { needPython } from '../harness/interpreters.ts';
import { LiveView, type Spot } from '../harness/live-view.ts';
import { needPrograms } from '../harness/programs.ts';
import { expect, repositoryRoot, test, type Sandbox } from '../harness/sandbox.ts';
import { startSite, type Site } from '../harness/site.ts';
import { until } from '../harness/until.ts';

const keptFilm = process.env['BOXKEEP_FILM'];
const size = { width: 1280, height: 800 };
const fps = 12;
const slowMs = 60_000;
const maxFilmSeconds = 180;
/** What the walk takes where nothing is waited for. */
const minFilmSeconds = 60;

const agentPage = `<!doctype html><title>Deploy</title><body style="font: 28px sans-serif; padding: 1em">
<h1>Deploy to production?</h1><p>The agent has filled in everything and waits for a person.</p>
<button style="font: inherit; padding: 0.5em 2em" onclick="document.title = 'Agreed'; this.textContent = 'Agreed'">Agree</button>`;

const spotOfButton = `(({ x, y }) => ({ x: x + 60, y: y + 20 }))(document.querySelector('button').getBoundingClientRect())`;

const plot = `import pandas as pd
sales = pd.read_csv("sales.csv", parse_dates=["month"])
table = sales.pivot(index="month", columns="region", values="amount")
table.plot(figsize=(8, 3), title="Sales by region");`;

/** The workspace is /srv, so that the film shows no path of a test. */
const withWorkspace = `sed 's#^\\(root:.*\\):[^:]*:#\\1:/srv:#' /etc/passwd >passwd && mount --bind ./passwd /etc/passwd &&
mount --bind ./workspace /srv && exec "$@"`;
const workspaceOf = ({ directory }: Sandbox) => join(directory, 'workspace');

/** The display of the person, which is filmed, and the one of the sandbox. */
let filmed: TestDisplay;
let desktop: AccessibleDesktop;
let camera: ComputerWorker;
let worker: ComputerWorker;
let agentBrowser: Chromium;
let site: Site;
let python: string;

beforeAll(async () => {
  needPrograms('openbox', 'xterm', 'ffmpeg', 'ffprobe');
  python = join(needPython('code'), 'bin');
  filmed = await TestDisplay.start(size);
  desktop = await AccessibleDesktop.start(size);
  // Chromium fills a display only where a window manager lets it.
  for (const each of [filmed, desktop.display]) each.spawn(['openbox']);
  camera = await ComputerWorker.start({ env: filmed.environment });
  worker = await ComputerWorker.start({ env: desktop.environment });
  agentBrowser = await Chromium.on(desktop.display, '--window-position=40,40', '--window-size=1000,640');
  site = startSite({ '/deploy': () => new Response(agentPage, { headers: { 'content-type': 'text/html' } }) });
});
afterAll(async () => {
  site.stop();
  await agentBrowser[Symbol.asyncDispose]();
  for (const each of [camera, worker]) await each[Symbol.asyncDispose]();
  for (const each of [filmed, desktop]) await each[Symbol.asyncDispose]();
});

test(
  'CONSOLE-FILM a person opens the console, runs a command, edits a file, sees a plot, and acts in the browser and on the desktop',
  async ({ sandbox }) => {
    await sandbox.ok('POST /v2/fs/write', { path: 'greeting.py', content: 'print("hello")\n' });
    const sales = readFileSync(join(repositoryRoot, 'examples/sales/sales.csv'), 'utf8');
    await sandbox.ok('POST /v2/fs/write', { path: 'sales.csv', content: sales });
    await sandbox.ok('POST /v2/browser/navigate', { url: site.url('/deploy') });
    const looks = ['-geometry', '70x16+560+380', '-fa', 'DejaVu Sans Mono', '-fs', '14'];
    desktop.display.spawn(['xterm', ...looks, '-e', `cd ${workspaceOf(sandbox)} && exec sh`]);

    const film = join(sandbox.directory, 'film.mp4');
    await using window = await Chromium.on(filmed, '--kiosk');
    const browser = await chromium.connectOverCDP(`http://127.0.0.1:${window.port}`);
    const page = onlyPage(browser);
    // Then a place in the page is the same place on the display.
    const bounds = '[screenX, screenY, innerWidth, innerHeight].join()';
    const whole = `0,0,${size.width},${size.height}`;
    await until('the page fills the display', async () => (await page.evaluate(bounds)) === whole);
    await camera.ok('POST /v2/computer/record', {
      ...{ action: 'start', save_path: film, fps, crf: 28, max_duration: maxFilmSeconds },
    });
    await walk(sandbox, new FilmedPerson(camera, page));
    await camera.ok('POST /v2/computer/record', { action: 'stop' });
    await browser.close();

    const { seconds, frames, codec, width } = probe(film);
    const megabytes = readFileSync(film).length / 1e6;
    console.log(`the film takes ${seconds.toFixed(0)} s, with ${frames} frames in ${megabytes.toFixed(1)} MB`);
    expect({ codec, width }).toEqual({ codec: 'h264', width: size.width });
    expect(seconds).toBeGreaterThan(minFilmSeconds);
    expect(seconds).toBeLessThan(maxFilmSeconds);
    expect(Math.abs(frames - seconds * fps)).toBeLessThan(fps);
    if (keptFilm) copyFileSync(film, keptFilm);
  },
  {
    launcher: ['unshare', '--mount', 'sh', '-c', withWorkspace, 'sh'],
    prepare: (sandbox) => mkdirSync(workspaceOf(sandbox)),
    env: ({ directory }) => ({
      ...{ ...agentBrowser.environment, ...worker.environment },
      PATH: `${python}:${process.env['PATH']}`,
      IPYTHONDIR: join(directory, 'ipython'),
      MPLCONFIGDIR: join(directory, 'matplotlib'),
      SVC_BROWSER_IDLE_SECONDS: '1', // The daemon then closes its connection before it is checked for leaks.
    }),
    timeoutMs: 2 * maxFilmSeconds * 1000,
  },
);

async function walk(sandbox: Sandbox, person: FilmedPerson): Promise<void> {
  const { page } = person;
  const view = (name: string) => page.getByRole('navigation').first().getByRole('link', { name, exact: true });
  await page.goto(sandbox.url);
  await page.getByRole('button', { name: 'New terminal' }).waitFor();
  await person.look(3);

  await person.click(view('Commands'));
  await person.click(page.getByLabel('New command'));
  await person.type(`for n in 1 2 3 4 5; do echo "step $n"; sleep 0.7; done\n`);
  await page.locator('.output', { hasText: 'step 5' }).waitFor();
  await person.look(2);

  await person.click(view('Files'));
  await person.click(page.locator('.tree').getByRole('link', { name: 'greeting.py' }));
  await person.click(page.locator('.cm-content'));
  await person.press('ctrl', 'end');
  await person.type('print("from a person")\n');
  await person.press('ctrl', 's');
  await untilPrinted(sandbox, 'cat greeting.py', 'from a person');
  await person.look(2);

  await person.click(view('Code'));
  await person.click(page.getByRole('button', { name: 'New python session' }));
  await person.click(page.getByRole('textbox', { name: 'Code' }));
  await person.type(plot);
  await person.press('ctrl', 'enter');
  await page.getByRole('img', { name: 'Output of the cell' }).waitFor();
  await person.look(3);

  await person.click(view('Browser'));
  await page.getByText(/^live, /).waitFor();
  await person.look(2);
  await person.clickAt(await new LiveView(page).place((await inTab(sandbox, spotOfButton)) as Spot));
  await until('the page has the click', async () => (await inTab(sandbox, 'document.title')) === 'Agreed');
  await person.look(2);

  await person.click(view('Desktop'));
  await page.getByText(/^live, /).waitFor();
  await person.look(2);
  await person.clickAt(await new LiveView(page).place({ x: 1160, y: 600 }));
  await person.type('echo "a person was here" >note; cat note\n');
  await untilPrinted(sandbox, 'cat note', 'a person was here');
  await person.look(3);
}

async function untilPrinted(sandbox: Sandbox, command: string, text: string): Promise<void> {
  await until(`${command} prints ${text}`, async () => {
    return ((await sandbox.run({ command }))['stdout'] as string).includes(text);
  });
}

async function inTab(sandbox: Sandbox, expression: string): Promise<unknown> {
  return (await sandbox.ok('POST /v2/browser/evaluate', { expression }))['value'];
}

function onlyPage(browser: Browser): Page {
  const [page] = browser.contexts().flatMap((context) => context.pages());
  if (page === undefined) throw new Error('the browser has no page');
  page.setDefaultTimeout(slowMs);
  return page;
}

/** Decodes the whole film. */
function probe(film: string) {
  const fields = ['-count_frames', '-show_entries', 'stream=codec_name,width,nb_read_frames:format=duration'];
  const { stdout } = Bun.spawnSync(['ffprobe', '-v', 'error', ...fields, '-of', 'json', film]);
  const { streams, format } = JSON.parse(stdout.toString()) as {
    streams: readonly [{ codec_name: string; width: number; nb_read_frames: string }];
    format: { duration: string };
  };
  const [{ codec_name: codec, width, nb_read_frames: frames }] = streams;
  return { seconds: Number(format.duration), frames: Number(frames), codec, width };
}
