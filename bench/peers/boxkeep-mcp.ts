/** Measures the MCP endpoint of boxkeep. */
import type { Field } from '../rows/row.ts';
import { HttpMcp } from './http-mcp.ts';
import type { McpPeer } from './mcp.ts';

export async function openBoxkeepMcp(
  opened: AsyncDisposableStack,
  field: Pick<Field, 'openBoxkeep'>,
): Promise<McpPeer> {
  const { url } = opened.use(await field.openBoxkeep());
  const server = new HttpMcp(`${url}/mcp`);
  return {
    name: 'boxkeep',
    readFile: (path) => server.call('sandbox_file_operations', { action: 'read', path }),
    run: (cmd) => server.call('sandbox_execute_bash', { cmd }),
  };
}
