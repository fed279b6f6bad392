/** The E2B protocol on ports of its own, loaded with the first request. A folder that can be deleted. */
import { bindRoutes } from '../../http/route/route.ts';
import { bindPlanes, routesOf, type BoundPlane, type Plane } from '../../http/route/planes.ts';
import type { E2bDeps } from './app.ts';
import { failure, plainFailure } from './failure.ts';

export type { E2bDeps } from './app.ts';
export { Defaults } from './defaults.ts';

/** Some calls carry the one, some the other. */
const keyHeaders = ['x-access-token', 'e2b-traffic-access-token'];

/** How port 49983 takes the key and refuses. `/files` and `/init` check the key themselves. */
export const envd = {
  keyHeaders,
  publicPaths: new Set(['/health', '/files', '/init']),
  failure,
} as const;

/** How port 49999 takes the key and refuses. */
export const interpreter = {
  keyHeaders,
  publicPaths: new Set(['/health']),
  failure: plainFailure,
} as const;

const codePlane: Plane<E2bDeps> = { prefixes: ['/execute', '/contexts'], load: () => routesOf(import('./code.ts')) };

/** What port 49999 serves. */
export const interpreterPlanes = (deps: E2bDeps): BoundPlane[] =>
  bindPlanes([codePlane, { prefixes: ['/health'], load: () => routesOf(import('./code-health.ts')) }], deps);

/** The routes of port 49983 that are no RPCs. A client that names one address for all ports has the code here too. */
export const restPlanes: readonly Plane<E2bDeps>[] = [
  { prefixes: ['/files'], load: () => routesOf(import('./files.ts')) },
  codePlane,
  { prefixes: ['/'], load: () => routesOf(import('./rest.ts')) },
];

/** How the port of the control plane takes the key and refuses. */
export const control = { publicPaths: new Set<string>(), failure } as const;

/** What the port of the control plane serves. */
export function controlPlanes(deps: E2bDeps): BoundPlane[] {
  return [
    {
      prefixes: ['/'],
      async load() {
        const { Lease, sandboxRoutes } = await import('./sandboxes.ts');
        return bindRoutes(sandboxRoutes, { ...deps, lease: new Lease() });
      },
    },
  ];
}

/** What port 49983 serves. */
export function envdPlanes(deps: E2bDeps): BoundPlane[] {
  return [
    {
      prefixes: ['/process.Process/'],
      async load() {
        const [{ rpcRoutes }, { Process }, { processService }] = await Promise.all([
          import('../../http/rpc.ts'),
          import('./wire/process_pb.ts'),
          import('./process.ts'),
        ]);
        return rpcRoutes(Process, processService(deps), deps);
      },
    },
    {
      prefixes: ['/filesystem.Filesystem/'],
      async load() {
        const [{ rpcRoutes }, { Filesystem }, { filesystemService }] = await Promise.all([
          import('../../http/rpc.ts'),
          import('./wire/filesystem_pb.ts'),
          import('./filesystem.ts'),
        ]);
        return rpcRoutes(Filesystem, filesystemService(deps), deps);
      },
    },
    ...bindPlanes(restPlanes, deps),
  ];
}
