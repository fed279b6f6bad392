/** Constructs the MCP server of the browser, on a port of its own for programs of this machine. */
import { browserMcpPlane, type McpDeps } from '../api.ts';
import { settings } from '../config.ts';
import { cdpBackend } from '../core/browser/backends/cdp.ts';
import type { AppDeps, FurtherPort } from '../http/app.ts';
import { ApiKey } from '../http/guard/auth.ts';
import { guardLocalRequest } from '../http/guard/local-guard.ts';
import { bindPlanes } from '../http/route/planes.ts';
import { keepNoted, readNoted } from '../platform/stores/runtime-directory.ts';
import type { Shared } from './shared.ts';

const noted = 'browser-mcp-numbers';

/** The elements that its tools show have refs of the daemon's own backend, whatever serves the routes. */
export function composeBrowserMcp(
  { config, runtimeDirectory }: Shared,
  deps: Omit<McpDeps, 'browserBackend'>,
  app: AppDeps,
): FurtherPort[] {
  if (config.browserMcpPort === 0) return [];
  const numbers = {
    /** The next daemon continues above the block. */
    reserve(count: number) {
      const first = Number(readNoted(runtimeDirectory, noted) ?? 0);
      keepNoted(runtimeDirectory, noted, String(first + count));
      return first;
    },
  };
  return [
    {
      hostname: '127.0.0.1',
      port: config.browserMcpPort,
      variable: settings.browserMcpPort.variable,
      app: {
        ...app,
        apiKey: new ApiKey(null),
        guard: { hasKey: false, ownName: 'localhost', allowedHosts: [], corsOrigins: [] },
        guardFirst: guardLocalRequest,
        routes: [],
        planes: bindPlanes([browserMcpPlane(numbers)], {
          ...deps,
          upstreams: null,
          browserBackend: cdpBackend(deps.browser),
        }),
        removedHint: async () => null,
        nearestHint: async () => 'POST /mcp takes the messages of the Model Context Protocol.',
      },
    },
  ];
}
