/** The servers of an image behind one `POST /mcp`: the browser server with a real Chromium, beside good and bad servers. */
import { afterAll } from 'bun:test';
import { Chromium } from '../harness/chromium.ts';
import { needPython } from '../harness/interpreters.ts';
import { callTool, toolNames } from '../harness/mcp-client.ts';
import { McpServerProcess } from '../harness/mcp-servers.ts';
import { expect, test, type JsonObject } from '../harness/sandbox.ts';
import { startSite } from '../harness/site.ts';

const chromium = await Chromium.start();
const servers = {
  browser: await McpServerProcess.browser(chromium.port),
  python: await McpServerProcess.python(needPython('mcp'), 'stateless'),
  sessions: await McpServerProcess.python(needPython('mcp'), 'sessions'),
  mute: await McpServerProcess.start('hangsAlways'),
  mortal: await McpServerProcess.python(needPython('mcp/modern'), 'stateless'),
};
const { browser, python, sessions, mute, mortal } = servers;
const site = startSite({
  '/words': () =>
    new Response(
      '<title>Words</title><p>Chapter one</p><button onclick="this.textContent=\'counted\'">count</button>',
      {
        headers: { 'content-type': 'text/html' },
      },
    ),
});

afterAll(async () => {
  await Promise.all(Object.values(servers).map((server) => server[Symbol.asyncDispose]()));
  site.stop();
  await chromium[Symbol.asyncDispose]();
});

const pythonTools = ['echo', 'count', 'picture', 'document', 'fail', 'long', 'die', 'wait'];
const namesWith = (prefix: string) => pythonTools.map((name) => `${prefix}_${name}`);

test(
  'MCP-UPSTREAMS agents use the browser server of an image while other servers hang, die in a call or need a session',
  async ({ sandbox }) => {
    const names = await toolNames(sandbox);
    const ofBrowser = names.filter((name, index) => index >= 10 && name.startsWith('browser_'));
    expect(ofBrowser).toContain('browser_navigate');
    expect(names.slice(10)).toEqual([...ofBrowser, ...namesWith('py'), ...namesWith('m')]);

    const [opened, died, echoed] = await Promise.all([
      callTool(sandbox, 'browser_navigate', { url: site.url('/words') }),
      callTool(sandbox, 'm_die'),
      callTool(sandbox, 'py_echo', { text: 'beside' }),
    ]);
    expect([opened.isError, opened.text]).toEqual([false, expect.stringContaining('Chapter one')]);
    expect([died.isError, died.text]).toEqual([true, expect.stringContaining('did not complete die')]);
    expect(echoed.text).toBe('beside');

    await mortal.kill(); // Waits for its end: until then its port accepts connections, and the last list stays.
    expect((await toolNames(sandbox)).slice(10)).toEqual([...ofBrowser, ...namesWith('py')]);

    expect((await callTool(sandbox, 'browser_click', { index: 0 })).isError).toBe(false);
    expect((await callTool(sandbox, 'browser_get_text')).text).toContain('counted');
    const picture = await callTool(sandbox, 'browser_screenshot');
    expect(picture.content).toContainEqual({ type: 'image', data: expect.any(String), mimeType: 'image/png' });
    const pages = (await (await fetch(`http://127.0.0.1:${chromium.port}/json/list`)).json()) as JsonObject[];
    expect(pages).toContainEqual(expect.objectContaining({ title: 'Words', url: site.url('/words') }));
  },
  {
    env: {
      EXTRA_MCP_SERVERS: JSON.stringify({
        mute: { url: mute.url },
        sessions: { url: sessions.url },
        browser: { url: browser.url },
        python: { url: python.url, prefix: 'py' },
        mortal: { url: mortal.url, prefix: 'm' },
      }),
    },
    expectedWarnings: [
      `The MCP server mute at ${mute.url} does not list its tools: no list of tools after 10 s.`,
      `The MCP server sessions at ${sessions.url} is skipped: it needs a session. Run it stateless.`,
      `The MCP server mortal at ${mortal.url} does not list its tools: nothing listens there.`,
    ],
  },
);
