/** The runtime interface of agent-sandbox on ports of its own, loaded with the first request. Can be deleted as a folder. */
import { bindPlanes, routesOf, type BoundPlane, type Plane } from '../../http/route/planes.ts';
import type { AgentSandboxDeps } from './app.ts';
import { failure, legacyFailure } from './failure.ts';
import { rpcFailure } from './rpc-failure.ts';

export type { AgentSandboxDeps } from './app.ts';

/** How the ports refuse. */
export const failures = { files: failure, processes: rpcFailure, legacy: legacyFailure } as const;

export const restPlanes: readonly Plane<AgentSandboxDeps>[] = [
  { prefixes: ['/v1/files'], load: () => routesOf(import('./files.ts')) },
  { prefixes: ['/'], load: () => routesOf(import('./probes.ts')) },
];

export const legacyPlanes: readonly Plane<AgentSandboxDeps>[] = [
  { prefixes: ['/'], load: () => routesOf(import('./legacy.ts')) },
];

/** What the port of files and probes serves. */
export const filePlanes = (deps: AgentSandboxDeps): BoundPlane[] => bindPlanes(restPlanes, deps);

/** What the port of the older interface serves. */
export const olderPlanes = (deps: AgentSandboxDeps): BoundPlane[] => bindPlanes(legacyPlanes, deps);

/** What the port of processes serves. */
export function processPlanes(deps: AgentSandboxDeps): BoundPlane[] {
  return [
    {
      prefixes: ['/process.v1.ProcessService/'],
      async load() {
        const [{ rpcRoutes }, { ProcessService }, { processService, codeOf }] = await Promise.all([
          import('../../http/rpc.ts'),
          import('./wire/process_pb.ts'),
          import('./process.ts'),
        ]);
        return rpcRoutes(ProcessService, processService(deps), { protocol: 'grpc', codeOf, onFault: deps.onFault });
      },
    },
  ];
}
