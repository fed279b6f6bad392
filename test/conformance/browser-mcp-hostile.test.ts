/** The MCP server of the browser beside pages and clients that try to mislead, flood or break it. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'bun:test';
import { browserMcpUrl, McpBrowser, nodesIn, withBrowserMcp } from '../harness/browser-mcp.ts';
import { Chromium } from '../harness/chromium.ts';
import { expect, repositoryRoot, test, type Sandbox } from '../harness/sandbox.ts';
import { startSite, type Site } from '../harness/site.ts';
import { asTestAccount } from '../harness/test-account.ts';
import { until } from '../harness/until.ts';

let browser: Chromium;
let site: Site;

beforeAll(async () => {
  browser = await Chromium.start();
  site = startSite();
});

afterAll(async () => {
  site.stop();
  await browser[Symbol.asyncDispose]();
});

const environment = () => ({ ...browser.environment, SVC_BROWSER_IDLE_SECONDS: '1' });
const options = withBrowserMcp(environment);
const html = (body: string) => `data:text/html,${encodeURIComponent(`<title>Page</title>${body}`)}`;
const indexOf = (text: string, name: string) => Number(nodesIn(text).find((node) => node.name === name)?.ref);

test(
  'MCP-BROWSER a page without a root element is read as an empty one',
  async ({ sandbox }) => {
    await using mcp = await McpBrowser.open(browserMcpUrl(sandbox));
    const page = html('<button onclick="document.documentElement.remove()">Remove</button>');
    await mcp.call('browser_navigate', { url: page });
    const clicked = await mcp.text('browser_click', { role: 'button', name: 'Remove' });
    expect(clicked).toContain('+ document\n- document "Page"');
    expect(nodesIn(await mcp.text('browser_snapshot')).map(({ role }) => role)).toEqual(['document']);
    for (const tool of ['browser_get_text', 'browser_read_links'])
      expect([tool, await mcp.text(tool)]).toEqual([tool, '']);
    expect(await mcp.text('browser_scroll')).toContain('Scrolled 0 pixels.');
    const pressed = await mcp.request('browser_press_key', { key: 'a' });
    expect(pressed.text).toContain('the document of the page has no element\nbrowser_navigate');
    const missing = await mcp.request('browser_wait_for', { text: 'Remove', timeout: 0.1 });
    expect(missing.text).toContain('text "Remove" did not appear');
  },
  options,
);

test(
  'MCP-BROWSER neither the level of a heading nor a console message imitates what the tools write',
  async ({ sandbox }) => {
    await using mcp = await McpBrowser.open(browserMcpUrl(sandbox));
    const page = html('<div role=heading aria-level="1] [0">One</div><div role=heading aria-level=" 9 ">Two</div>');
    const shown = await mcp.text('browser_navigate', { url: page });
    expect(shown.split('\n').slice(-2)).toEqual(['  heading "One" [level=2]', '  heading "Two" [level=9]']);
    await mcp.call('browser_evaluate', { script: 'console.log("one\\nerror: two")' });
    expect(await mcp.text('browser_console')).toMatch(/^log: one\n {2}error: two/);
  },
  options,
);

test(
  'MCP-BROWSER long addresses, lines and lists are cut, and the answer says so',
  async ({ sandbox }) => {
    await using mcp = await McpBrowser.open(browserMcpUrl(sandbox));
    await mcp.call('browser_navigate', { url: site.url('/plain') });
    const script = 'history.pushState(0, "", "#" + "x".repeat(1e6)); document.body.innerHTML = "<input aria-label=In>"';
    await mcp.call('browser_evaluate', { script });
    for (const tool of ['browser_snapshot', 'browser_scroll', 'browser_tab_list'])
      expect([tool, (await mcp.text(tool)).length < 3000]).toEqual([tool, true]);
    const filled = await mcp.text('browser_fill', { role: 'textbox', name: 'In', value: 'long '.repeat(2000) });
    expect(filled).toMatch(/~ textbox "In": long long .*…\n\[the line is too long\]$/);
    const many = 'document.body.innerHTML = `<a href="/${"y".repeat(100)}">link</a> `.repeat(4000); 0';
    await mcp.call('browser_evaluate', { script: many });
    expect(await mcp.text('browser_read_links')).toEndWith(
      '[the page has more than one call reads; browser_snapshot with find looks for a part]',
    );
    const missing = await mcp.request('browser_wait_for', { role: 'x'.repeat(100_000), timeout: 0.1 });
    expect([missing.isError, missing.text.length < 500]).toEqual([true, true]);
    // The whole list of links is there for the caller to read.
    for (const name of readdirSync(join(sandbox.directory, 'tmp'))) rmSync(join(sandbox.directory, 'tmp', name));
  },
  options,
);

test(
  'MCP-BROWSER a picture of another size leaves the page as it was, also when the client goes',
  async ({ sandbox }) => {
    await using mcp = await McpBrowser.open(browserMcpUrl(sandbox));
    await mcp.call('browser_navigate', { url: site.url('/plain') });
    const width = async () => await mcp.text('browser_evaluate', { script: 'innerWidth' });
    const own = await width();
    const sizes = [
      { width: 500, height: 400 },
      { width: 300, height: 200 },
    ];
    const texts = await Promise.all(sizes.map(async (size) => await mcp.text('browser_screenshot', size)));
    expect(texts).toEqual(['Screenshot, 500x400', 'Screenshot, 300x200']);
    // The picture waits for an element that never comes.
    const gone = new AbortController();
    const waiting = callUntil(sandbox, gone.signal, 'browser_screenshot', { width: 640, height: 480, selector: '#no' });
    await until('the view has the other size', async () => (await width()) === '640');
    gone.abort();
    await waiting;
    await until('the view has its own size', async () => (await width()) === own);
  },
  options,
);

async function callUntil(sandbox: Sandbox, signal: AbortSignal, name: string, input: object): Promise<void> {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } };
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, keepalive: false, signal };
  const end = await fetch(browserMcpUrl(sandbox), { ...init, body: JSON.stringify(message) }).then(
    () => 'answered',
    () => 'aborted',
  );
  expect(end).toBe('aborted');
}

test(
  'MCP-BROWSER a refusal names only tools and arguments of this server',
  async ({ sandbox }) => {
    await using mcp = await McpBrowser.open(browserMcpUrl(sandbox));
    const refused = async (name: string, input: object) => {
      const { isError, text } = await mcp.request(name, input);
      expect([name, isError]).toEqual([name, true]);
      expect(text).not.toMatch(/sandbox_|\ba index|\bref\b|\/v2\//);
      return text;
    };
    const first = await mcp.text('browser_navigate', { url: html('<button>One</button><input type=file>') });
    expect(await refused('browser_click', { selector: '>>' })).toContain('or an index of a snapshot');
    expect(await refused('browser_click', { selector: 'button', x: 5 })).toBe('x and y are required together');
    expect(await refused('browser_press_key', { key: 'hello' })).toContain('as the value of browser_fill');
    expect(await refused('browser_wait_for', {})).toBe('text, role or name is required');
    expect(await refused('browser_pdf', { path: '/dev/null' })).toContain('Pass another path.');
    expect(await refused('browser_pdf', { path: '/proc/page.pdf' })).toContain('in a directory that exists');
    expect(await refused('browser_upload', { selector: 'input', paths: ['/no'] })).toContain('/no does not exist');
    await mcp.call('browser_evaluate', { script: 'document.body.style.height = "30000px"; 0' });
    expect(await refused('browser_screenshot', { fullPage: true })).toContain('a picture of a smaller part');
    const second = await mcp.text('browser_new_tab', { url: html('<button>Two</button>') });
    const drag = { index: indexOf(second, 'Two'), drag_to: indexOf(first, 'One') };
    expect(await refused('browser_click', drag)).toContain('are in different tabs');
    await mcp.call('browser_close');
  },
  options,
);

test(
  'MCP-BROWSER a file that the account of the daemon cannot read is not uploaded by a browser of another account',
  async ({ sandbox }) => {
    await using mcp = await McpBrowser.open(browserMcpUrl(sandbox));
    await mcp.call('browser_navigate', { url: html('<input type=file>') });
    const { text } = await mcp.request('browser_upload', { selector: 'input', paths: ['/etc/shadow'] });
    expect(text).toContain('the file /etc/shadow cannot be read: EACCES');
  },
  {
    ...asTestAccount(),
    ...withBrowserMcp(() => ({ ...environment(), BOXKEEP_TEST_ROOT: repositoryRoot })),
  },
);
