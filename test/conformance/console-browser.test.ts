/** The view of the browser in the console, as a person uses it. */
import { afterAll, beforeAll } from 'bun:test';
import { Chromium } from '../harness/chromium.ts';
import { expectAccessible } from '../harness/accessibility.ts';
import { consoleTests } from '../harness/console-page.ts';
import { LiveView } from '../harness/live-view.ts';
import { expect, type Json, type Sandbox } from '../harness/sandbox.ts';
import { startSite, type Site } from '../harness/site.ts';
import { until } from '../harness/until.ts';

const { consoleTest } = consoleTests({ width: 1024, height: 800 });
const [red, green] = [
  [255, 0, 0],
  [0, 255, 0],
] as const;

/** The title and the name of the button are hostile, and the square changes its colour with each click. */
const pageText = `<!doctype html><title>&lt;img src=x onerror="top.hacked=1"&gt;</title>
<body style="margin:0;height:3000px">
<div id="square" style="width:200px;height:200px;background:#f00"></div>
<input id="field" style="position:absolute;left:300px;top:20px;width:300px;height:40px">
<button style="position:absolute;left:300px;top:100px" aria-label="&lt;b&gt;Press&lt;/b&gt;" onclick="log.push('pressed')">Press</button>
<script>
const log = [];
const square = document.getElementById('square');
square.addEventListener('mousedown', ({ button, detail, clientX, clientY, shiftKey }) => {
  log.push(['down', button, detail, clientX, clientY, shiftKey].join());
  square.style.background = '#0f0';
});
document.addEventListener('keydown', ({ key, code, ctrlKey }) => log.push(['key', key, code, ctrlKey].join()));
square.addEventListener('contextmenu', (event) => event.preventDefault());
</script>`;

const formText = `<!doctype html><title>Form</title><h1>Order</h1>
<form aria-label="Coffee"><fieldset><legend>Cup</legend><input aria-label="Name">
<div role="listbox" aria-label="Size" tabindex="0">
<div role="option" tabindex="0" onclick="size = 'large'"><b>lar</b>ge</div></div></fieldset></form>
<script>var size = 'none';</script>`;

let chromium: Chromium;
let site: Site;

beforeAll(async () => {
  chromium = await Chromium.start();
  site = startSite({
    '/page': () => new Response(pageText, { headers: { 'content-type': 'text/html' } }),
    '/form': () => new Response(formText, { headers: { 'content-type': 'text/html' } }),
    '/api': () => new Response('none', { status: 404 }),
  });
});
afterAll(async () => {
  await chromium[Symbol.asyncDispose]();
  site.stop();
});

const options = { env: () => ({ ...chromium.environment, SVC_BROWSER_IDLE_SECONDS: '1' }) };

async function valueIn(sandbox: Sandbox, expression: string): Promise<Json> {
  return (await sandbox.ok('POST /v2/browser/evaluate', { expression }))['value'];
}

consoleTest(
  'CONSOLE-BROWSER a person sees the tab, clicks and types in it',
  async ({ sandbox, console: { page } }) => {
    const view = new LiveView(page);
    await page.goto(sandbox.url);
    await page.getByRole('link', { name: 'Browser' }).click();
    await page.getByLabel('Address').fill(site.url('/page'));
    await page.getByLabel('Address').press('Enter');
    await view.untilColour({ x: 100, y: 100 }, red);
    await view.click({ x: 100, y: 100 });
    await view.untilColour({ x: 100, y: 100 }, green);
    await until('the click is known', async () => (await valueIn(sandbox, 'log.length')) === 1);
    const [kind, button, detail, x, y] = ((await valueIn(sandbox, 'log[0]')) as string).split(',');
    expect([kind, button, detail]).toEqual(['down', '0', '1']);
    expect([Math.abs(Number(x) - 100) <= 2, Math.abs(Number(y) - 100) <= 2]).toEqual([true, true]);

    await page.keyboard.down('Shift');
    await view.click({ x: 50, y: 50 }, { button: 'right' });
    await page.keyboard.up('Shift');
    await view.click({ x: 150, y: 150 }, { clickCount: 2 });
    await until('the double click is known', async () =>
      ((await valueIn(sandbox, `log.at(-1)`)) as string).startsWith('down,0,2'),
    );
    expect(
      await valueIn(sandbox, `log.filter((one) => one.startsWith('down,2')).map((one) => one.endsWith('true'))`),
    ).toEqual([true]);

    await view.click({ x: 400, y: 40 });
    await page.keyboard.type('héllo "wörld" 日本');
    await page.keyboard.press('Home');
    await page.keyboard.press('Delete');
    await until('the text is typed', async () => (await valueIn(sandbox, 'field.value')) === 'éllo "wörld" 日本');
    expect(await valueIn(sandbox, `log.includes('key,Home,Home,false') && log.includes('key,l,KeyL,false')`)).toBe(
      true,
    );
    await page.keyboard.press('Control+a');
    await page.keyboard.type('new');
    await until('the text is replaced', async () => (await valueIn(sandbox, 'field.value')) === 'new');

    const { x: left, y: top } = await view.place({ x: 100, y: 300 });
    await page.mouse.move(left, top);
    await page.mouse.wheel(0, 400);
    await until('the page has scrolled', async () => ((await valueIn(sandbox, 'scrollY')) as number) > 300);
    await page.keyboard.press('Shift+Escape');
    expect(await page.evaluate('document.activeElement === document.body')).toBe(true);
  },
  options,
);

consoleTest(
  'CONSOLE-BROWSER tabs, elements and requests are listed as text, and act',
  async ({ sandbox, console: { page } }) => {
    const view = new LiveView(page);
    await sandbox.ok('POST /v2/browser/navigate', { url: site.url('/page') });
    await page.goto(`${sandbox.url}/#/browser`);
    await view.untilColour({ x: 100, y: 100 }, red);
    const hostile = '<img src=x onerror="top.hacked=1">';
    await page.getByRole('button', { name: hostile, exact: true }).waitFor();
    expect(await page.getByLabel('Address').inputValue()).toBe(site.url('/page'));
    await page.getByText('Elements').click();
    await page.getByRole('button', { name: '<b>Press</b>', exact: true }).click();
    await until('the button was pressed', async () => (await valueIn(sandbox, `log.includes('pressed')`)) === true);
    await page.getByText('Network').click();
    await valueIn(sandbox, `fetch('/api').then(() => (square.style.background = '#0f0', 1))`);
    await page.getByText(`GET ${site.url('/api')}`).waitFor();

    await page.getByRole('button', { name: 'New tab' }).click();
    await until(
      'there are two tabs',
      async () => ((await sandbox.ok('GET /v2/browser/tabs')) as unknown as Json[]).length === 2,
    );
    await page.getByLabel('Address').fill(site.url('/plain').replace('http://', ''));
    await page.getByRole('button', { name: 'Go', exact: true }).click();
    await page.locator('.tabs').getByRole('button', { name: 'Plain', exact: true }).waitFor();
    await page.getByRole('button', { name: hostile, exact: true }).click();
    await view.untilColour({ x: 100, y: 100 }, green);
    await page.getByRole('button', { name: 'Close Plain' }).click();
    await page.locator('.tabs').getByRole('button', { name: 'Plain', exact: true }).waitFor({ state: 'detached' });
    expect(await page.evaluate('window.hacked')).toBeUndefined();

    await page.setViewportSize({ width: 390, height: 700 });
    await expectAccessible(page);
  },
  options,
);

consoleTest(
  'CONSOLE-BROWSER the elements are a tree, a click acts on one, and a field then takes what is typed',
  async ({ sandbox, console: { page } }) => {
    await sandbox.ok('POST /v2/browser/navigate', { url: site.url('/form') });
    await page.goto(`${sandbox.url}/#/browser`);
    await page.getByRole('button', { name: 'Form', exact: true }).waitFor();
    await page.getByText('Elements').focus();
    await page.keyboard.press('Enter');
    const row = (name: string) =>
      page.locator('li', { has: page.locator(`:scope > button`, { hasText: new RegExp(`^${name}$`) }) });
    const within = row('Coffee').locator(row('Cup'));
    await within.locator(row('Name')).waitFor();
    const large = within.locator(row('Size')).locator(row('large')).getByRole('button', { name: 'large' });
    await large.click();
    await until('the option is chosen', async () => (await valueIn(sandbox, 'size')) === 'large');
    await large.hover();
    await page.mouse.down();
    const drawn = page.waitForResponse(async (response) => (await response.text()).includes('Bill'));
    await valueIn(sandbox, `(document.querySelector('h1').textContent = 'Bill', size = 'none')`);
    await drawn;
    await page.mouse.up();
    await until('the option is chosen again', async () => (await valueIn(sandbox, 'size')) === 'large');

    await page.getByRole('button', { name: 'Name', exact: true }).focus();
    await valueIn(sandbox, `document.querySelector('h1').textContent = 'Receipt'`);
    await page.getByText('Receipt').waitFor();
    await page.keyboard.press('Enter');
    await until('the picture has the focus', () =>
      page.evaluate<boolean>(`document.activeElement.classList.contains('live-keys')`),
    );
    await page.keyboard.type('Ada');
    await until('the name is typed', async () =>
      ((await valueIn(sandbox, `document.querySelector('input').value`)) as string).startsWith('Ada'),
    );
    await row('Name').filter({ hasText: 'textbox, Ada' }).waitFor();
    await page.setViewportSize({ width: 390, height: 700 });
    await expectAccessible(page);
  },
  options,
);

consoleTest(
  'CONSOLE-BROWSER the view goes on over the death of the daemon and of the browser',
  async ({ sandbox, console: { page } }) => {
    const view = new LiveView(page);
    await sandbox.ok('POST /v2/browser/navigate', { url: site.url('/page') });
    await page.goto(`${sandbox.url}/#/browser`);
    await view.untilColour({ x: 100, y: 100 }, red);
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    await valueIn(sandbox, `(square.style.background = '#0f0', 1)`);
    await view.untilColour({ x: 100, y: 100 }, green);
    await chromium.kill();
    await page.getByText('Start one with --remote-debugging-port').waitFor();
    await chromium.launch();
    await sandbox.ok('POST /v2/browser/navigate', { url: site.url('/page') });
    await view.untilColour({ x: 100, y: 100 }, red);
  },
  { ...options, expectedWarnings: ['started again by init'] },
);

consoleTest(
  'CONSOLE-BROWSER without a browser the view says how to start one',
  async ({ sandbox, console: { page } }) => {
    await page.goto(`${sandbox.url}/#/browser`);
    await page.getByText('there is no browser at').waitFor();
    await page.getByText('Start one with --remote-debugging-port').waitFor();
  },
);
