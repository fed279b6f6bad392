/** The pages behind the gateway in a real browser, opened as a person does: with the key in the address. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { BrowserContextOptions } from 'playwright-core';
import { TestBrowser, type TestPage } from '../harness/browser.ts';
import { ConsolePage } from '../harness/console-page.ts';
import { Container } from '../harness/container.ts';
import { until } from '../harness/until.ts';

setDefaultTimeout(900_000);
const slowMs = 120_000;
const pageMs = 400_000;
const key = 'pages-canary-7361';
const keyInUrl = `api_key=${key}`;

let container: Container;
let browser: TestBrowser;

beforeAll(async () => {
  container = await Container.start({
    image: 'computer',
    key,
    env: { DISABLE_CODE_SERVER: 'false', DISABLE_JUPYTER: 'false' },
  });
  browser = await TestBrowser.launch();
});
afterAll(async () => {
  await browser[Symbol.asyncDispose]();
  await container[Symbol.asyncDispose]();
});

/** A busy machine draws these pages slowly, and this browser's own limits are real time. */
async function open(options: BrowserContextOptions = {}): Promise<TestPage> {
  const opened = await browser.open(options);
  opened.page.setDefaultTimeout(pageMs);
  return opened;
}

const fileContent = async (path: string) => await container.output(`cat ${path} 2>/dev/null; true`);

test('OPS-HOME IMG-4 a terminal in the console belongs to the preset account', async () => {
  await using opened = await open();
  const console = new ConsolePage(opened.page);
  await opened.page.goto(`${container.url}/?${keyInUrl}`);
  await opened.page.getByRole('button', { name: 'New terminal' }).click();
  await console.untilState('attached');
  await console.type('echo "$(id -un) in $PWD on $((6 * 7))"');
  await console.untilScreen(/^agent in \/home\/agent on 42$/m);
  expect(opened.errors).toEqual([]);
});

test('IMG-1 a terminal of the desktop is typed into through the viewer', async () => {
  const windows = async () => JSON.stringify(await container.ok('GET /v2/computer/windows'));
  const isDrawn = async () => {
    if ((await container.status('/v2/computer/windows', { 'x-api-key': key })) !== 200) return false;
    return (await windows()).includes('xfce4-panel');
  };
  await until('the desktop is drawn', isDrawn, slowMs);
  await container.ok('POST /v2/commands', { command: 'xfce4-terminal --maximize --title=typed', mode: 'async' });
  await until('the terminal is shown', async () => (await windows()).includes('"typed"'), slowMs);
  await using opened = await open({ viewport: { width: 1300, height: 860 } });
  const { page } = opened;
  await page.goto(
    `${container.url}/vnc/index.html?autoconnect=true&path=${encodeURIComponent(`vnc/websockify?${keyInUrl}`)}&${keyInUrl}`,
  );
  const canvas = page.locator('canvas').last();
  await until('the viewer is connected', async () => ((await canvas.boundingBox())?.width ?? 0) > 1000, slowMs);
  await canvas.click({ position: { x: 600, y: 400 } });
  await page.keyboard.type('echo "$(id -un) $((6 * 7))" >typed.txt', { delay: 20 });
  await page.keyboard.press('Enter');
  await until('the line has run', async () => (await fileContent('typed.txt')) === 'agent 42', slowMs);
  expect(opened.errors).toEqual([]);
});

test('IMG-13 the notebook runs a cell as the preset account', async () => {
  const notebook = {
    ...{ nbformat: 4, nbformat_minor: 5 },
    metadata: { kernelspec: { name: 'python3', display_name: 'Python 3', language: 'python' } },
    cells: [
      {
        ...{ cell_type: 'code', id: 'one', metadata: {}, execution_count: null, outputs: [] },
        source: ['import getpass\n', 'print(getpass.getuser(), 6 * 7)'],
      },
    ],
  };
  await container.ok('POST /v2/fs/write', { path: '/home/agent/one.ipynb', content: JSON.stringify(notebook) });
  await container.untilServed('/jupyter/lab');
  await using opened = await open();
  const { page } = opened;
  await page.goto(`${container.url}/jupyter/lab/tree/one.ipynb?${keyInUrl}`);
  // A cell that is run earlier waits for no kernel.
  await page.getByText('Python 3 (ipykernel) | Idle').waitFor();
  await page.locator('.jp-Notebook .jp-CodeCell .cm-content').first().click();
  await page.keyboard.press('Shift+Enter');
  await page.getByText('agent 42').waitFor();
});

test('IMG-12 the IDE opens a file of the workspace', async () => {
  await container.ok('POST /v2/fs/write', { path: '/home/agent/hello.txt', content: 'shown in the IDE\n' });
  await until(
    'the IDE answers',
    async () => [200, 302].includes(await container.status('/code-server/', { 'x-api-key': key })),
    slowMs,
  );
  await using opened = await open();
  const { page } = opened;
  await page.goto(`${container.url}/code-server/?folder=/home/agent&${keyInUrl}`);
  await page.locator('.explorer-folders-view').getByText('hello.txt').dblclick();
  await page.locator('.view-line', { hasText: 'shown' }).waitFor();
});

test('AUTH-4 the key of these pages is in no log, URL and process list', async () => {
  expect(container.logs()).not.toContain(key);
  // `podman exec` passes the key of the container to the search itself.
  const search =
    'ps axww -o args | grep "pages-[c]anary"; grep -rl "pages-[c]anary" /run/image/log /home/agent /tmp; true';
  expect(container.exec('env', '-u', 'SANDBOX_API_KEY', 'sh', '-c', search)).toBe('');
  const addresses = await Promise.all(
    ['/v2/browser/info', '/v1/shell/terminal-url', '/v2/sandbox'].map(
      async (path) => await (await container.fetch(path)).text(),
    ),
  );
  expect(addresses.join('')).not.toContain(key);
});
