/** The plane of the MCP endpoint, loaded with its first request. */
import type { Plane } from '../../http/route/planes.ts';
import type { McpDeps } from './app.ts';

export type { McpDeps } from './app.ts';

export const mcpPlane: Plane<McpDeps> = {
  prefixes: ['/mcp'],
  load: async () => [(await import('./endpoint.ts')).mcpRoute()],
};
