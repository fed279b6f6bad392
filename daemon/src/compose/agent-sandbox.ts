/** Constructs what serves the runtime interface of agent-sandbox, on ports of its own. */
import { chownSync, mkdirSync } from 'node:fs';
import { loadAgentSandbox } from '../api.ts';
import { settings } from '../config.ts';
import type { AppDeps, FurtherPort } from '../http/app.ts';
import { errnoOf } from '../kit/errno.ts';
import type { Planes } from '../operations/planes.ts';
import { terminalJobs } from '../platform/terminal/terminal-job.ts';
import type { Port } from '../platform/server/ports.ts';
import type { Shared } from './shared.ts';

type OpenPort = FurtherPort & Pick<Port, 'bind' | 'ask'>;

export async function composeAgentSandbox(shared: Shared, planes: Planes, app: AppDeps): Promise<OpenPort[]> {
  const { commandEnvironment, config, onFault } = shared;
  if (config.agentSandbox === 'off') return [];
  const { failures, filePlanes, olderPlanes, processPlanes } = await loadAgentSandbox();
  // Imported here, because most daemons serve no HTTP/2.
  const [{ bindHttp2 }, { http2Fetch }] = await Promise.all([
    import('../platform/server/http2-server.ts'),
    import('../platform/server/http2-fetch.ts'),
  ]);
  const startedMs = performance.now();
  makeRoot(shared, config.agentSandboxRoot);
  const deps = {
    ...planes,
    root: config.agentSandboxRoot,
    environment: commandEnvironment,
    metadataPrefix: config.agentSandboxMetadataPrefix,
    uptimeSeconds: () => Math.round(performance.now() - startedMs) / 1000,
    jobs: terminalJobs,
    onFault: (error: unknown) => onFault('a bug', error),
  };
  // A page that rebinds a name to this address needs no key here, so the list of names applies with a key too.
  const guarded = { ...app, guard: { ...app.guard, hasKey: false }, isKeyOptional: true, routes: [] };
  const hostname = config.agentSandboxHost;
  return [
    {
      ...{ hostname, port: config.agentSandboxRestPort, variable: settings.agentSandboxRestPort.variable },
      app: { ...guarded, planes: filePlanes(deps), failure: failures.files },
    },
    {
      ...{ hostname, port: config.agentSandboxGrpcPort, variable: settings.agentSandboxGrpcPort.variable },
      ...{
        app: { ...guarded, planes: processPlanes(deps), failure: failures.processes },
        ...{ bind: bindHttp2, ask: http2Fetch },
      },
    },
    {
      ...{ hostname, port: config.agentSandboxLegacyPort, variable: settings.agentSandboxLegacyPort.variable },
      app: { ...guarded, planes: olderPlanes(deps), failure: failures.legacy },
    },
  ].filter(({ port }) => port !== 0);
}

/** Throws one line when the root is not there and cannot be made. */
function makeRoot({ accounts }: Shared, root: string): void {
  try {
    if (mkdirSync(root, { recursive: true }) === undefined) return;
    const { uid, gid } = accounts.default();
    if (uid !== accounts.own().uid) chownSync(root, uid, gid);
  } catch (error) {
    throw new Error(
      `${settings.agentSandboxRoot.variable} ${root} cannot be made: ${errnoOf(error) ?? String(error)}`,
      {
        cause: error,
      },
    );
  }
}
