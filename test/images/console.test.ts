/** A walk of three minutes through the console, behind the gateway of an image with a key, below a path. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { TestBrowser, type TestPage } from '../harness/browser.ts';
import { ConsolePage } from '../harness/console-page.ts';
import { Container } from '../harness/container.ts';
import { proxyTo, type CuttingProxy } from '../harness/cutting-proxy.ts';
import { LiveView } from '../harness/live-view.ts';
import { until } from '../harness/until.ts';

setDefaultTimeout(900_000);
const key = 'walk-canary-2917';
const slowMs = 120_000;
const pageText = `<!doctype html><title>before</title><body style="margin:0">
<div style="width:300px;height:300px;background:#f00" onmousedown="this.style.background='#0f0'; document.title='clicked'"></div>`;

const plotText = `from IPython.display import SVG
from scale import scale
points = ' '.join(f'{x},{200 - x * x / 200 * scale / 7}' for x in range(200))
SVG(f'<svg xmlns="http://www.w3.org/2000/svg" width="200" height="200"><polyline points="{points}" fill="none" stroke="red"/></svg>')`;

let container: Container;
let proxy: CuttingProxy;
let browser: TestBrowser;
let opened: TestPage;
let shown: ConsolePage;
let home: string;

beforeAll(async () => {
  container = await Container.start({ image: 'computer', key });
  proxy = await proxyTo(Number(new URL(container.url).port), '/team/box');
  home = `http://127.0.0.1:${proxy.port}/team/box/`;
  browser = await TestBrowser.launch();
  opened = await browser.open({ viewport: { width: 1440, height: 900 } });
  opened.page.setDefaultTimeout(slowMs);
  shown = new ConsolePage(opened.page);
  await opened.page.goto(`${home}?api_key=${key}`);
});
afterAll(async () => {
  expect([...opened.errors, ...shown.refused]).toEqual([]);
  await browser[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  await container[Symbol.asyncDispose]();
});

const fileContent = async (path: string) => await container.output(`cat ${path} 2>/dev/null; true`);

test('IMG-CONSOLE the key leaves the address, and each view opens by its link', async () => {
  const { page } = opened;
  await page.getByRole('button', { name: 'New terminal' }).waitFor();
  expect(page.url()).toBe(home);
  const links = page.getByRole('navigation').first().getByRole('link');
  const names = await links.allTextContents();
  expect(names.length).toBeGreaterThan(9);
  for (const name of names) {
    await links.getByText(name, { exact: true }).click();
    await page.locator('nav [aria-current]', { hasText: name }).waitFor();
    await page.locator('.view > *').first().waitFor();
    expect([name, await page.getByRole('alert').allTextContents()]).toEqual([name, []]);
  }
});

test('IMG-CONSOLE a person runs a command, edits a file, and sees a plot of a cell', async () => {
  const { page } = opened;
  await page.goto(`${home}#/commands`);
  await page.getByLabel('New command').fill('echo "scale = 1" >scale.py; pwd');
  await page.keyboard.press('Enter');
  await page.locator('.output', { hasText: '/home/agent' }).waitFor();
  await page.goto(`${home}#/files//home/agent/scale.py`);
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.type('scale = 7');
  await page.keyboard.press('Control+s');
  await until('the file is saved', async () => (await fileContent('scale.py')) === 'scale = 7');
  await page.goto(`${home}#/code`);
  await page.getByRole('button', { name: 'New python session' }).click();
  const code = page.getByRole('textbox', { name: 'Code' });
  await code.fill(plotText);
  await page.keyboard.press('Control+Enter');
  const plot = page.getByRole('img', { name: 'Output of the cell' });
  await plot.waitFor();
  expect((await plot.boundingBox())?.width).toBeGreaterThanOrEqual(200);
});

test('IMG-CONSOLE a person clicks in the tab that an agent has opened', async () => {
  const { page } = opened;
  await container.output('x-www-browser about:blank');
  await container.untilServed('/cdp/json/version');
  await container.ok('POST /v2/browser/navigate', { url: `data:text/html,${encodeURIComponent(pageText)}` });
  await page.goto(`${home}#/browser`);
  const view = new LiveView(page);
  await view.untilColour({ x: 150, y: 150 }, [255, 0, 0]);
  await view.click({ x: 150, y: 150 });
  await view.untilColour({ x: 150, y: 150 }, [0, 255, 0]);
  expect(await container.ok('POST /v2/browser/evaluate', { expression: 'document.title' })).toMatchObject({
    value: 'clicked',
  });
});

test('IMG-CONSOLE a person takes over the desktop', async () => {
  const { page } = opened;
  await container.ok('POST /v2/commands', { command: 'xfce4-terminal --maximize --title=taken', mode: 'async' });
  const windows = async () => JSON.stringify(await container.ok('GET /v2/computer/windows'));
  await until('the terminal is there', async () => (await windows()).includes('"taken"'), slowMs);
  await page.goto(`${home}#/desktop`);
  await page.getByText(/^live, /).waitFor();
  await new LiveView(page).click({ x: 600, y: 400 });
  await page.keyboard.type('echo "$(id -un) $((6 * 7))" >taken.txt', { delay: 20 });
  await page.keyboard.press('Enter');
  await until('the line has run', async () => (await fileContent('taken.txt')) === 'agent 42', slowMs);
});
