/** The routes of each surface and the documents that describe them. */
import { describeApi } from './http/description/openapi.ts';
import { loadAll, routesOf, type Plane } from './http/route/planes.ts';
import { bindRoutes, type BoundRoute, type RouteShape } from './http/route/route.ts';
import type { RemoteDeps } from './http/route/remote.ts';
import { browserPlane, type BrowserDeps } from './surfaces/browser/index.ts';
import {
  describeWorker,
  desktopAliasesOfV1,
  desktopAliasesOfV2,
  desktopPlane,
  workerRoutes,
  type DescriptionDeps,
  type DesktopDeps,
  type DesktopLiveDeps,
} from './surfaces/desktop/index.ts';
import type { ToolDescription } from './surfaces/mcp/describe.ts';
import { browserMcpPlane, mcpPlane, type McpDeps } from './surfaces/mcp/index.ts';
import { rootRoutes } from './surfaces/root/index.ts';
import type { E2bDeps } from './surfaces/e2b/index.ts';
import type { V1Deps } from './surfaces/v1/app.ts';
import { style as styleOfV2, type V2Deps } from './surfaces/v2/app.ts';
import { v2Planes as ownPlanesOfV2 } from './surfaces/v2/index.ts';
import { version } from './version.ts';

export { browserMcpPlane, mcpPlane, rootRoutes };
export type { E2bDeps, McpDeps };

export const surfaceNames = ['v1', 'v2'] as const;
export type SurfaceName = (typeof surfaceNames)[number];

/** What the handlers of both surfaces work on. */
export type PlaneDeps = Omit<V1Deps & V2Deps, 'openApi'> & BrowserDeps & DesktopLiveDeps;

export const v2Planes: readonly Plane<V2Deps & BrowserDeps & DesktopLiveDeps>[] = [
  desktopPlane(styleOfV2),
  desktopAliasesOfV2(styleOfV2),
  browserPlane({ prefix: '/v2', suffix: '', style: styleOfV2, hasLivePictures: true }),
  ...ownPlanesOfV2,
];

export interface V1Surface {
  readonly planes: readonly Plane<V1Deps & BrowserDeps & RemoteDeps>[];
  /** The replacement for a route that this surface once had; null for any other path. */
  readonly removedHint: (method: string, path: string) => Promise<string | null>;
}

/** Loads the v1 surface, or the few v1 routes that remain where the surface is switched off. */
export async function loadV1(isWhole: boolean): Promise<V1Surface> {
  if (!isWhole) return remainingV1;
  const { v1Planes, aliasStyle, removedHint } = await import('./surfaces/v1/index.ts');
  const browser = browserPlane({ prefix: '/v1', suffix: '_v1', style: aliasStyle, hasLivePictures: false });
  return {
    planes: [desktopAliasesOfV1(aliasStyle), browser, ...v1Planes],
    removedHint: async (method, path) => removedHint(method, path),
  };
}

/** The protocol of E2B, which most daemons do not serve. */
export async function loadE2b() {
  return await import('./surfaces/e2b/index.ts');
}

/** The runtime interface of agent-sandbox, which most daemons do not serve. */
export async function loadAgentSandbox() {
  return await import('./surfaces/agent-sandbox/index.ts');
}

/** OpenAPI 3.1 of the routes of E2B that are no RPCs. */
export async function describeE2b(): Promise<object> {
  const description = 'The protocol of E2B on ports of its own, and its control plane (SVC_E2B_API_PORT).';
  return (await import('./surfaces/e2b/describe.ts')).describeE2b({
    title: 'boxkeep for clients of E2B',
    version,
    description,
  });
}

/** OpenAPI 3.1 of the routes of agent-sandbox that are no RPCs. */
export async function describeAgentSandbox(): Promise<object> {
  const description =
    'The runtime interface of agent-sandbox on ports of its own, and its older form (SVC_AGENT_SANDBOX_LEGACY_PORT).';
  return (await import('./surfaces/agent-sandbox/describe.ts')).describeAgentSandbox({
    title: 'boxkeep for clients of agent-sandbox',
    version,
    description,
  });
}

const remainingPlanes: readonly Plane<V1Deps>[] = [
  { prefixes: ['/v1/'], load: () => routesOf(import('./surfaces/v1/ops.ts')) },
];
const remainingV1: V1Surface = {
  planes: remainingPlanes,
  removedHint: async (_method, path) =>
    path.startsWith('/v1/') && !(await loadAll(remainingPlanes)).some((route) => route.path === path)
      ? 'The v1 surface is switched off here (SVC_API_SURFACE=v2); GET /v2/openapi.json lists every route.'
      : null,
};

/** OpenAPI 3.1 of v1 with these planes and the unversioned routes. */
export async function describeV1(planes: V1Surface['planes']): Promise<object> {
  const description = 'The surface of the 1.x system, kept for its clients.';
  return describe('boxkeep v1', description, await loadAll(planes));
}

const v2Description = 'Commands, files, terminals, code, browser and desktop of one sandbox, over HTTP.';

/** OpenAPI 3.1 of v2 and the unversioned routes. */
export async function describeV2(): Promise<object> {
  return describe('boxkeep v2', v2Description, await loadAll(v2Planes));
}

/** OpenAPI 3.1 of every served route: v1 with these planes, v2 and the unversioned routes. */
export async function describeAll(planes: V1Surface['planes']): Promise<object> {
  const [v1, v2] = await Promise.all([loadAll(planes), loadAll(v2Planes)]);
  return await describe('boxkeep', `Both surfaces. ${v2Description}`, [...v1, ...v2]);
}

async function describe(title: string, description: string, routes: readonly RouteShape[]): Promise<object> {
  const unversioned = [...rootRoutes, ...(await mcpPlane.load())];
  const { default: examples } = await import('./http/description/examples.json');
  return describeApi({ title, version, description }, [...routes, ...unversioned], examples);
}

/** The built-in tools of `POST /mcp`, as `tools/list` sends them. */
export async function describeTools(): Promise<readonly ToolDescription[]> {
  const [{ describeTools: describe }, { builtInTools }] = await Promise.all([
    import('./surfaces/mcp/describe.ts'),
    import('./surfaces/mcp/tools.ts'),
  ]);
  return describe(builtInTools);
}

/** The tools of the browser’s own port. */
export async function describeBrowserTools(): Promise<readonly ToolDescription[]> {
  const [{ describeTools: describe }, { browserTools }] = await Promise.all([
    import('./surfaces/mcp/describe.ts'),
    import('./surfaces/mcp/browser/tools.ts'),
  ]);
  return describe(browserTools({ reserve: () => 0 }));
}

export async function describeSurface(surface: SurfaceName): Promise<object> {
  return surface === 'v1' ? describeV1((await loadV1(true)).planes) : describeV2();
}

/** The routes that the computer-use worker serves to the daemon. */
export async function loadWorkerRoutes(deps: DesktopDeps): Promise<readonly BoundRoute[]> {
  const routes = await workerRoutes(styleOfV2);
  const title = 'boxkeep computer-use';
  const openApi = async () => describeApi({ title, version, description: 'The desktop of one display.' }, routes);
  return [...bindRoutes(routes, deps), ...bindRoutes<DescriptionDeps>([describeWorker], { openApi })];
}
