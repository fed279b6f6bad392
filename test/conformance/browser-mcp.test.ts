/** The MCP server of the browser: the tools that 1.x images had, and more, on pages of every kind, by the official client. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'bun:test';
import { browserMcpUrl, McpBrowser, McpTab, nodesIn, withBrowserMcp } from '../harness/browser-mcp.ts';
import { browserTasks } from '../harness/browser-tasks.ts';
import { Chromium } from '../harness/chromium.ts';
import { needMcpClients } from '../harness/interpreters.ts';
import { McpServerProcess } from '../harness/mcp-servers.ts';
import { callTool, toolNames } from '../harness/mcp-client.ts';
import { expect, test, type JsonObject } from '../harness/sandbox.ts';
import { startSite, type Site } from '../harness/site.ts';
import { TestSite } from '../harness/test-site.ts';

const pages = new TestSite();
let browser: Chromium;
let site: Site;

beforeAll(async () => {
  needMcpClients();
  browser = await Chromium.start('--site-per-process');
  site = startSite();
});

afterAll(async () => {
  pages[Symbol.dispose]();
  site.stop();
  await browser[Symbol.asyncDispose]();
});

const environment = () => ({ ...browser.environment, SVC_BROWSER_IDLE_SECONDS: '1' });
const options = withBrowserMcp(environment);
const structured = withBrowserMcp(() => ({ ...environment(), SVC_MCP_ANSWERS: 'structured' }));

for (const { page, what, complete } of browserTasks) {
  test(
    `MCP-BROWSER a page with ${what} is completed by the tools`,
    async ({ sandbox }) => {
      await using mcp = await McpBrowser.open(browserMcpUrl(sandbox));
      const tab = new McpTab(mcp);
      await tab.navigate(pages.page(page));
      expect(await tab.value('window.result')).toBe('open');
      await complete(tab, sandbox);
      await tab.untilDone();
      await mcp.call('browser_close');
    },
    structured,
  );
}

const html = (body: string) => `data:text/html,${encodeURIComponent(`<title>Page</title>${body}`)}`;
const indexOf = (text: string, name: string) => Number(nodesIn(text).find((node) => node.name === name)?.ref);

test(
  'MCP-BROWSER each tool of the server of the 1.x images is there with its arguments',
  async ({ sandbox }) => {
    await using former = await McpServerProcess.browser(browser.port);
    await using old = await McpBrowser.open(former.url);
    await using mcp = await McpBrowser.open(browserMcpUrl(sandbox));
    const own = new Map((await mcp.tools()).map((tool) => [String(tool['name']), schemaOf(tool)]));
    const theirs = (await old.tools()).map((tool) => [String(tool['name']), schemaOf(tool)] as const);
    expect(theirs.length).toBe(21);
    for (const [name, { properties, required }] of theirs) {
      const { properties: ours = {}, required: needed = [] } = own.get(name) ?? {};
      expect([name, Object.keys(properties).filter((field) => !(field in ours))]).toEqual([name, []]);
      expect([name, needed.filter((field) => !required.includes(field))]).toEqual([name, []]);
      const types = Object.entries(properties).map(([field, { type }]) => [field, type]);
      const ownTypes = Object.keys(properties).map((field) => [field, ours[field]?.type?.replace('integer', 'number')]);
      expect([name, ownTypes]).toEqual([name, types]);
    }
  },
  options,
);

interface Schema {
  readonly properties: Readonly<Record<string, { readonly type?: string }>>;
  readonly required: readonly string[];
}

function schemaOf({ inputSchema }: JsonObject): Schema {
  const { properties = {}, required = [] } = inputSchema as Partial<Schema>;
  return { properties, required };
}

test(
  'MCP-BROWSER the tools of the 1.x images answer what their callers expect',
  async ({ sandbox }) => {
    await using mcp = await McpBrowser.open(browserMcpUrl(sandbox));
    const opened = await mcp.text('browser_navigate', {
      url: html(
        '<h1>Shop</h1><a href="https://example.org/a">More</a><input id=n><select id=s><option value=1>One<option value=2>Two</select><button onclick="document.title=n.value+s.value">Go</button><div style="height:3000px">',
      ),
    });
    expect(opened).toContain('heading "Shop"');
    const list = await mcp.text('browser_get_clickable_elements');
    expect(nodesIn(list).map(({ role }) => role)).toEqual([
      'document',
      'link',
      'textbox',
      'combobox',
      'option',
      'option',
      'button',
    ]);
    await mcp.call('browser_form_input_fill', { selector: '#n', value: 'Ada', clear: true });
    await mcp.call('browser_select', { selector: '#s', value: '2' });
    await mcp.call('browser_hover', { selector: '#s' });
    expect(await mcp.text('browser_click', { index: indexOf(list, 'Go') })).toContain('document "Ada2"');
    expect(await mcp.text('browser_evaluate', { script: 'document.title' })).toBe('"Ada2"');
    expect(await mcp.text('browser_evaluate', { script: 'const x = 2; return x + 1' })).toBe('3');
    expect(await mcp.text('browser_get_markdown')).toBe('Ada2\n# Shop\n\n[More](https://example.org/a)Go');
    expect(await mcp.text('browser_get_text')).toBe('Shop\n\nMoreGo');
    expect(await mcp.text('browser_read_links')).toBe('{"text":"More","href":"https://example.org/a"}');
    expect(await mcp.text('browser_scroll', { amount: 50 })).toStartWith(
      'Scrolled 50 pixels. Did not reach the bottom',
    );
    expect(await mcp.text('browser_scroll', { amount: 9999 })).toContain('Reached the bottom of the page.');
    await mcp.call('browser_press_key', { key: 'Home' });
    await mcp.call('browser_press_key', { key: 'ShiftLeft' });
    const picture = await mcp.call('browser_screenshot', { name: 'one', width: 400, height: 300, highlight: true });
    expect([picture.text, picture.content[0]]).toEqual([
      'Screenshot "one", 400x300',
      { type: 'image', data: expect.any(String), mimeType: 'image/png' },
    ]);
    expect((await mcp.call('browser_screenshot', { selector: '#s' })).text).not.toContain('400x300');
    await mcp.call('browser_new_tab', { url: html('<p>Second') });
    const tabs = (await mcp.text('browser_tab_list')).split('\n');
    const active = tabs.findIndex((line) => line.endsWith(' active'));
    expect(tabs[active]).toMatch(/^\[\d+\] .*\(data:text/);
    expect(await mcp.text('browser_switch_tab', { index: 0 })).toContain('Switched to tab 0.');
    expect((await mcp.request('browser_switch_tab', { index: 99 })).text).toContain('no tab has index 99');
    await mcp.call('browser_switch_tab', { index: active });
    expect(await mcp.text('browser_close_tab')).toContain('Closed tab');
    await mcp.call('browser_navigate', { url: site.url('/plain') });
    await mcp.call('browser_navigate', { url: site.url('/tall?height=100') });
    expect(await mcp.text('browser_go_back')).toContain('heading "Plain"');
    expect(await mcp.text('browser_go_forward')).toContain('document "Tall"');
    expect(JSON.parse(await mcp.text('browser_get_download_list'))).toEqual({ list: [] });
    await mcp.call('browser_close');
    expect((await mcp.text('browser_tab_list')).split('\n').length).toBe(1);
  },
  options,
);

test(
  'MCP-BROWSER an action answers what has changed, and a number names the same element for ever',
  async ({ sandbox }) => {
    await using mcp = await McpBrowser.open(browserMcpUrl(sandbox));
    const script =
      'b.onclick=()=>{l.innerHTML+="<li>item "+l.children.length+"<button>Drop "+l.children.length+"</button>"}';
    const page = await mcp.text('browser_navigate', {
      url: html(`<button id=b>Add</button><ul id=l></ul><script>${script}</script>`),
    });
    const add = indexOf(page, 'Add');
    const first = await mcp.text('browser_click', { index: add });
    expect(first.split('\n').slice(1)).toEqual([
      '+ listitem',
      '+   text: item 0',
      expect.stringMatching(/^\+ {3}button "Drop 0" \[\d+\]$/),
    ]);
    const drop = indexOf(first.replaceAll(/^\+ /gm, ''), 'Drop 0');
    const second = await mcp.text('browser_click', { role: 'button', name: 'Add' });
    // The page has replaced the first button.
    const gone = await mcp.request('browser_click', { index: drop });
    expect([gone.isError, gone.text]).toEqual([
      true,
      expect.stringContaining(`index ${drop} names an element that is not`),
    ]);
    expect(nodesIn(second.replaceAll(/^\+ /gm, '')).map(({ ref }) => Number(ref))).not.toContain(drop);
    expect(await mcp.text('browser_press_key', { key: 'F9' })).toBe('Pressed F9.\nno change');
    const shown = await mcp.text('browser_snapshot', { find: 'drop', role: 'button' });
    expect(nodesIn(shown).map(({ name }) => name)).toEqual(['Drop 0', 'Drop 1']);
    const { 1: id } = /snapshot_id (\w+)/.exec(shown) ?? [];
    await mcp.call('browser_click', { index: add });
    expect(await mcp.text('browser_snapshot', { diff_from: id })).toContain('text: item 2');
    expect((await mcp.text('browser_snapshot', { max_bytes: 200 })).length).toBeLessThan(600);
    expect(await mcp.text('browser_wait_for', { text: 'item 2' })).toContain('The wait is over.');
    const several = await mcp.request('browser_click', { role: 'button', name: 'Drop' });
    const [, one] = /button "Drop 0".*?\(index (\d+)\)/.exec(several.text) ?? [];
    expect([several.isError, several.text]).toEqual([true, expect.stringContaining('3 elements match')]);
    await mcp.call('browser_click', { index: Number(one) });
    const unknown = await mcp.request('browser_click', { index: 1_000_000 });
    expect(unknown.text).toContain('no element has been shown with index 1000000');
    const none = await mcp.request('browser_click', {});
    expect(none.text).toContain('index, selector, or role and name is required');
  },
  options,
);

test(
  'MCP-BROWSER the console, the requests, a PDF and a picture of a frame are there',
  async ({ sandbox }) => {
    await using mcp = await McpBrowser.open(browserMcpUrl(sandbox));
    const inner = site.otherUrl('/plain');
    const script = 'console.log("one", 1); console.warn("two"); setTimeout(() => { throw new Error("three") })';
    await mcp.call('browser_navigate', { url: site.url('/plain') });
    await mcp.call('browser_evaluate', {
      script: `document.body.innerHTML = '<iframe src="${inner}"></iframe>'; ${script}; fetch('/missing').then(() => 0)`,
    });
    const logged = await mcp.text('browser_console');
    for (const text of ['one 1', 'warning: two', 'Error: three', '404']) expect(logged).toContain(text);
    expect(await mcp.text('browser_network', { filter: '/missing' })).toMatch(/^GET \S+\/missing 404 Fetch/);
    await mcp.call('browser_wait_for', { role: 'heading', name: 'Plain' });
    expect(await mcp.text('browser_get_text')).toBe('Plain');
    const { ref } =
      nodesIn(await mcp.text('browser_snapshot', { find: 'Plain', role: 'heading' })).find(
        ({ role }) => role === 'heading',
      ) ?? {};
    expect(await mcp.text('browser_screenshot', { index: Number(ref) })).toMatch(/^Screenshot, \d+x\d+$/);
    const path = `${sandbox.directory}/page.pdf`;
    expect(await mcp.text('browser_pdf', { path })).toContain(`Saved ${path}`);
    expect(await Bun.file(path).slice(0, 5).text()).toBe('%PDF-');
  },
  options,
);

test(
  'MCP-BROWSER a page and a foreign host are refused, and odd values are named',
  async ({ sandbox }) => {
    const url = browserMcpUrl(sandbox);
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const post = async (headers: Record<string, string>, body: unknown = message) => {
      const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, keepalive: false };
      const answer = await fetch(url, { ...init, body: JSON.stringify(body) });
      return { status: answer.status, text: await answer.text() };
    };
    const refused = [
      { host: 'evil.example' },
      { origin: 'https://evil.example' },
      { origin: url.replace('/mcp', '') },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-origin' },
      { referer: 'https://evil.example/' },
    ];
    for (const headers of refused) expect([headers, (await post(headers)).status]).toEqual([headers, 403]);
    expect((await post({ 'content-type': 'text/plain' })).status).toBe(415);
    expect((await post({})).status).toBe(200);
    // No key is needed, and nothing but the endpoint is served.
    expect((await fetch(url.replace('/mcp', '/v2/commands'), { keepalive: false })).status).toBe(404);
    const call = async (name: string, input: unknown) =>
      (await post({}, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } })).text;
    expect(await call('browser_click', { index: 'x' })).toContain('index must be');
    expect(await call('browser_click', { index: -1 })).toContain('index');
    expect(await call('browser_click', { index: 1e300 })).toContain('index');
    expect(await call('browser_click', { indx: 1 })).toContain('indx');
    expect(await call('browser_evaluate', { script: ['a'] })).toContain('script');
    expect((await call('browser_navigate', { url: `http://${'a'.repeat(2_000_000)}` })).length).toBeLessThan(2000);
    expect(await call('browser_navigate', { url: 'file:///etc/passwd' })).toContain('is not loaded');
    expect(await call('sandbox_execute_bash', { cmd: 'id' })).toContain('unknown tool');
  },
  structured,
);

test(
  'MCP-BROWSER texts of a page imitate neither a number nor another line, and long ones are cut',
  async ({ sandbox }) => {
    await using mcp = await McpBrowser.open(browserMcpUrl(sandbox));
    const fake = 'x&quot; [0]&#10;button &quot;Fake&quot; [7]';
    const shown = await mcp.text('browser_navigate', {
      url: html(`<button>${fake}</button><p>text\n- button "Two" [8]</p>`),
    });
    const nodes = nodesIn(shown);
    expect(nodes.filter(({ role }) => role === 'button').length).toBe(1);
    expect(nodes.find(({ role }) => role === 'text')?.name).toBe('text - button "Two" [8]');
    await mcp.call('browser_evaluate', { script: 'document.body.textContent = "long ".repeat(400000); 0' });
    for (const tool of ['browser_snapshot', 'browser_get_text', 'browser_get_markdown']) {
      expect([tool, (await mcp.text(tool)).length < 40_000]).toEqual([tool, true]);
    }
    const title = await mcp.text('browser_evaluate', {
      script: 'document.title = "t".repeat(1e6); document.title.length',
    });
    expect(title).toBe('1000000');
    expect((await mcp.text('browser_press_key', { key: 'F9' })).length).toBeLessThan(8000);
    for (const name of readdirSync(join(sandbox.directory, 'tmp'))) rmSync(join(sandbox.directory, 'tmp', name));
  },
  options,
);

test(
  'MCP-BROWSER MCP-UPSTREAMS the hub lists the tools of the port beside its own, and numbers outlive the daemon',
  async ({ sandbox }) => {
    expect((await toolNames(sandbox)).slice(10).length).toBe(28);
    const opened = await callTool(sandbox, 'browser_navigate', { url: html('<button>One</button>') });
    const first = indexOf(opened.text, 'One');
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    const again = await callTool(sandbox, 'browser_navigate', { url: html('<button>Two</button>') });
    expect(indexOf(again.text, 'Two')).toBeGreaterThan(first);
    expect((await callTool(sandbox, 'browser_click', { index: first })).text).toContain('no element has been shown');
  },
  {
    ...withBrowserMcp((url) => ({ ...environment(), EXTRA_MCP_SERVERS: JSON.stringify({ browser: { url } }) })),
    expectedWarnings: ['started again by init'],
  },
);
