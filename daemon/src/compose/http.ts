/** Constructs what serves HTTP: the key, the guard, the room for bodies, and the routes of every surface. */
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  describeAll,
  describeV1,
  describeV2,
  loadV1,
  mcpPlane,
  rootRoutes,
  v2Planes,
  type McpDeps,
  type PlaneDeps,
} from '../api.ts';
import { consoleFiles } from '../assets/console.ts';
import type { Shared } from './shared.ts';
import { unmatchedRoute, type AppDeps, type ResponseFacts } from '../http/app.ts';
import { ApiKey } from '../http/guard/auth.ts';
import { MemoryBudget } from '../kit/memory-budget.ts';
import { frameAncestors } from '../http/guard/guard.ts';
import type { OpenStreams } from '../http/stream/open-streams.ts';
import { bindPlanes } from '../http/route/planes.ts';
import { nearestRoutes } from '../http/route/nearest-routes.ts';
import { bindRoutes } from '../http/route/route.ts';
import { once } from '../kit/once.ts';
import { collectGarbage, freeMemoryBytes, memoryLimitBytes } from '../platform/memory/memory.ts';
import type { Metrics } from '../platform/observe/metrics.ts';
import type { Tracing } from '../platform/observe/tracing.ts';
import { version } from '../version.ts';

export interface HttpInputs {
  readonly room: MemoryBudget;
  readonly streams: OpenStreams;
  readonly metrics: Metrics;
  readonly onAnswer: (facts: ResponseFacts) => void;
  readonly tracing: Tracing | null;
  readonly planes: PlaneDeps;
  readonly mcp: Omit<McpDeps, keyof PlaneDeps | 'openApi'>;
}

const routesOfV1 = async () => (await import('../assets/tables/routes-v1.txt', { with: { type: 'text' } })).default;
const routesOfV2 = async () => (await import('../assets/tables/routes-v2.txt', { with: { type: 'text' } })).default;

export async function composeHttp(shared: Shared, inputs: HttpInputs): Promise<AppDeps> {
  const { config, logger, ownership } = shared;
  const { room, streams, metrics, onAnswer, tracing, planes, mcp } = inputs;
  const startedMs = performance.now();
  const v1 = await loadV1(config.apiSurface === 'full');
  const { allowedHosts, corsOrigins } = config;
  const guard = { allowedHosts, corsOrigins, hasKey: config.apiKey !== null, ownName: hostname() };
  return {
    apiKey: new ApiKey(config.apiKey),
    guard,
    body: { room, stallMs: config.bodyStallSeconds * 1000 },
    streams,
    logger,
    routes: bindRoutes(rootRoutes, {
      version,
      leavingMs: () => ownership.leavingMs,
      uptimeSeconds: () => Math.round(performance.now() - startedMs) / 1000,
      frameAncestors: frameAncestors(guard),
      openApi: once(() => describeAll(v1.planes)),
      routeList: routesOfV2,
      readConsole: (part) => readFile(consoleFiles[part], 'utf8'),
      async renderMetrics() {
        await nextTurn(); // A request counts one turn of the event loop after its answer.
        return await metrics.render();
      },
    }),
    planes: [
      ...bindPlanes(v1.planes, { ...planes, openApi: once(() => describeV1(v1.planes)) }),
      ...bindPlanes(v2Planes, { ...planes, openApi: once(describeV2) }),
      ...bindPlanes([mcpPlane], { ...planes, ...mcp, openApi: once(describeV2) }),
    ],
    removedHint: v1.removedHint,
    async nearestHint(method, path, isServed) {
      const isV1 = path.startsWith('/v1/') && config.apiSurface === 'full';
      const nearest = nearestRoutes(await (isV1 ? routesOfV1 : routesOfV2)(), method, path, isServed);
      const all = isV1 ? 'GET /v1/openapi.json lists every route.' : 'GET /v2 lists every route.';
      if (nearest.length > 0) return [`${all} The nearest:`, ...nearest].join('\n');
      return isServed ? null : all;
    },
    onResponse(facts) {
      metrics.observeRequest(facts);
      onAnswer(facts);
      const { tool, tool_outcome: outcome } = facts.tool;
      if (tool !== undefined && outcome !== undefined) metrics.observeTool({ tool, outcome, ms: facts.ms });
      tracing?.observe({ ...facts, route: facts.route === unmatchedRoute ? null : facts.route });
    },
  };
}

export function composeRoom(): MemoryBudget {
  return new MemoryBudget({ limitBytes: memoryLimitBytes(), freeBytes: freeMemoryBytes, collect: collectGarbage });
}
