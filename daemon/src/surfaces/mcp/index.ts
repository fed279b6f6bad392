/** The plane of the MCP endpoint and that of the browser’s own port, each loaded with its first request. */
import type { Plane } from '../../http/route/planes.ts';
import type { McpDeps } from './app.ts';
import type { NumberBlocks } from './browser/shown-pages.ts';

export type { McpDeps } from './app.ts';

export const mcpPlane: Plane<McpDeps> = {
  prefixes: ['/mcp'],
  async load() {
    const [{ mcpRoute }, { builtInTools }] = await Promise.all([import('./endpoint.ts'), import('./tools.ts')]);
    return [mcpRoute(builtInTools)];
  },
};

export function browserMcpPlane(numbers: NumberBlocks): Plane<McpDeps> {
  return {
    prefixes: ['/mcp'],
    async load() {
      const modules = [import('./endpoint.ts'), import('./browser/tools.ts')] as const;
      const [{ mcpRoute }, { browserTools }] = await Promise.all(modules);
      return [mcpRoute(browserTools(numbers))];
    },
  };
}
