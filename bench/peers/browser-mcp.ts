/** Starts the MCP server that images run for their browser, with HTTP. */
import { join } from 'node:path';
import { npmPackages } from '../install.ts';
import { freePort, launch } from '../launch.ts';
import type { Limit } from '../limit.ts';

const release = '@agent-infra/mcp-server-browser@1.2.29';

/** A tool of this server that needs no browser, so that a call measures the server alone. */
export const trivialTool = 'browser_get_download_list';

/** Returns the URL of a new server. */
export async function openBrowserMcp(opened: AsyncDisposableStack, limit: Limit | null): Promise<string> {
  const file = '@agent-infra/mcp-server-browser/dist/index.cjs';
  const script = join(npmPackages({ name: release.replaceAll('/', '-'), packages: [release], file }), file);
  const port = await freePort();
  const command = ['node', script, '--host', '127.0.0.1', '--port', String(port)];
  opened.use(
    await launch({ command, serving: /Streamable HTTP MCP Server listening/, logsTo: 'stdout', url: null }, limit),
  );
  return `http://127.0.0.1:${port}/mcp`;
}
