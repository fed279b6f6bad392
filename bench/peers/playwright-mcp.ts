/** Measures Playwright's MCP server: one process, called by JSON-RPC over its standard input. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { npmPackages } from '../install.ts';
import type { BrowserPeer } from './browser.ts';
import { McpServer } from './stdio-mcp.ts';

const release = '@playwright/mcp@0.0.83';

export function playwrightMcp(): BrowserPeer {
  const file = '@playwright/mcp/cli.js';
  const script = join(npmPackages({ name: release.replaceAll('/', '-'), packages: [release], file }), file);
  return {
    name: 'playwright-mcp',
    async open(port, limit) {
      // The server writes its logs into its working directory.
      const directory = mkdtempSync(join(tmpdir(), 'boxkeep-bench-'));
      const server = new McpServer(
        [
          ...['node', script, '--cdp-endpoint', `http://127.0.0.1:${port}`],
          // By default, each click waits half a second for work that it triggers, and returns a whole snapshot.
          ...['--timeout-settle', '0', '--snapshot-mode', 'none'],
        ],
        { directory, limit },
      );
      await server.initialize();
      return {
        navigate: async (url) => void (await server.call('browser_navigate', { url })),
        snapshot: () => server.call('browser_snapshot', {}),
        click: async (ref) => void (await server.call('browser_click', { target: ref })),
        async [Symbol.asyncDispose]() {
          await server[Symbol.asyncDispose]();
          rmSync(directory, { recursive: true, force: true });
        },
      };
    },
  };
}
