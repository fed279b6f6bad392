/** Other MCP servers of the browser, which speak over stdio, beside the daemon's own: through a stateless bridge. */
import { afterAll } from 'bun:test';
import { browserMcpUrl, withBrowserMcp } from '../harness/browser-mcp.ts';
import { Chromium } from '../harness/chromium.ts';
import { callTool, toolNames } from '../harness/mcp-client.ts';
import { McpServerProcess } from '../harness/mcp-servers.ts';
import { expect, test } from '../harness/sandbox.ts';
import { startSite } from '../harness/site.ts';

const chromium = await Chromium.start();
const playwright = await McpServerProcess.bridged('playwright', chromium.port);
const devtools = await McpServerProcess.bridged('devtools', chromium.port);
const button = '<title>Words</title><button onclick="this.textContent=\'counted\'">count</button>';
const site = startSite({ '/words': () => new Response(button, { headers: { 'content-type': 'text/html' } }) });

afterAll(async () => {
  await playwright[Symbol.asyncDispose]();
  await devtools[Symbol.asyncDispose]();
  site.stop();
  await chromium[Symbol.asyncDispose]();
});

test(
  'MCP-BROWSER MCP-UPSTREAMS servers over stdio keep their state behind a bridge, beside the tools of the browser',
  async ({ sandbox }) => {
    expect(browserMcpUrl(sandbox)).toContain('127.0.0.1');
    const names = await toolNames(sandbox);
    for (const name of ['browser_click', 'pw_browser_click', 'cdt_click']) expect(names).toContain(name);
    // The refs of a snapshot live in the process behind the bridge.
    await callTool(sandbox, 'pw_browser_navigate', { url: site.url('/words') });
    const { text } = await callTool(sandbox, 'pw_browser_snapshot');
    const ref = /button "count".*\bref=([^\],\s]+)/.exec(text)?.[1];
    await callTool(sandbox, 'pw_browser_click', { element: 'count', target: ref });
    expect((await callTool(sandbox, 'browser_get_text')).text).toBe('counted');
    const { text: shown } = await callTool(sandbox, 'cdt_take_snapshot');
    expect(shown).toMatch(/uid=\S+ button "counted"/);
  },
  withBrowserMcp((url) => ({
    ...chromium.environment,
    SVC_BROWSER_IDLE_SECONDS: '1',
    EXTRA_MCP_SERVERS: JSON.stringify({
      browser: { url },
      playwright: { url: playwright.url, prefix: 'pw' },
      devtools: { url: devtools.url, prefix: 'cdt' },
    }),
  })),
);
