/** Starts the MCP server that images run for their browser, with HTTP. */
import { join } from 'node:path';
import { npmPackages } from '../install.ts';
import { freePort, launch } from '../launch.ts';
import type { Limit } from '../limit.ts';

const release = '@agent-infra/mcp-server-browser@1.2.29';

/** A tool of this server that needs no browser, so that a call measures the server alone. */
export const trivialTool = 'browser_get_download_list';

/** Returns the URL of a new server, which drives the Chromium with the debugging port if there is one. */
export async function openBrowserMcp(
  opened: AsyncDisposableStack,
  limit: Limit | null,
  debuggingPort: number | null = null,
): Promise<string> {
  const file = '@agent-infra/mcp-server-browser/dist/index.cjs';
  const script = join(npmPackages({ name: release.replaceAll('/', '-'), packages: [release], file }), file);
  const port = await freePort();
  const browser = debuggingPort === null ? [] : ['--cdp-endpoint', `http://127.0.0.1:${debuggingPort}/json/version`];
  const command = ['node', script, '--host', '127.0.0.1', '--port', String(port), ...browser];
  opened.use(
    await launch({ command, serving: /Streamable HTTP MCP Server listening/, logsTo: 'stdout', url: null }, limit),
  );
  return `http://127.0.0.1:${port}/mcp`;
}
