/** The runtime of Kubernetes agent-sandbox, and boxkeep in its place, through the published client for Python. */
import { join } from 'node:path';
import { playKubernetes } from '../../test/harness/played-kubernetes.ts';
import { goProgram, virtualEnvironment } from '../install.ts';
import { freePort, launch } from '../launch.ts';
import type { Limit } from '../limit.ts';
import type { Field } from '../rows/row.ts';
import type { Contestant, Mover, Peer } from './peer.ts';
import { openSdk } from './sdk-program.ts';

const release = 'k8s-agent-sandbox[grpc]==1.0.8';
const runtime = { module: 'sigs.k8s.io/agent-sandbox', version: 'v1.0.3', path: 'packages/sandboxd/cmd/sandboxd' };

interface AgentSandboxPeer extends Peer {
  open(): Promise<Contestant & Mover>;
}

/** Both serve `root`, with boxkeep first. */
export function agentSandboxPeers(field: Field, root: string): AgentSandboxPeer[] {
  const limit = field.limitFor('agent-sandbox');
  return [
    { name: 'boxkeep', canStartAnew: true, open: () => openBoxkeep(field, root) },
    { name: 'agent-sandbox', canStartAnew: true, open: () => openRuntime(limit, root) },
  ];
}

interface Place {
  readonly root: string;
  readonly rest: string;
  readonly grpc: string;
}

async function openBoxkeep({ openBoxkeepIn }: Field, root: string): Promise<Contestant & Mover> {
  const place = await placeAt(root);
  const server = await openBoxkeepIn({
    SVC_AGENT_SANDBOX: 'on',
    SVC_AGENT_SANDBOX_REST_PORT: place.rest,
    SVC_AGENT_SANDBOX_GRPC_PORT: place.grpc,
    SVC_AGENT_SANDBOX_ROOT: root,
  });
  await fetch(`http://127.0.0.1:${place.rest}/v1/health`).then((response) => response.arrayBuffer());
  return clientOf(server, server, place);
}

async function openRuntime(limit: Limit | null, root: string): Promise<Contestant & Mover> {
  const place = await placeAt(root);
  const ports = ['--rest-port', place.rest, '--grpc-port', place.grpc];
  const server = await launch(
    {
      command: [goProgram(runtime), '--listen-host', '127.0.0.1', ...ports, '--root-dir', root],
      serving: /"rest":"([^"]+)"/,
      logsTo: 'stderr',
      url: ([, address]) => `http://${address}/v1/health`,
    },
    limit,
  );
  return clientOf(server, { name: 'agent-sandbox', pids: [server.pid] }, place);
}

async function placeAt(root: string): Promise<Place> {
  return { root, rest: String(await freePort()), grpc: String(await freePort()) };
}

function clientOf(
  server: AsyncDisposable,
  { name, pids }: Pick<Contestant, 'name' | 'pids'>,
  { root, rest, grpc }: Place,
): Contestant & Mover {
  const opened = new AsyncDisposableStack();
  opened.use(server);
  const config = join(root, `kubernetes-${rest}`);
  opened.use(playKubernetes(config));
  const place = virtualEnvironment({ name: release, packages: [release], program: 'wsdump' });
  const command = ['agent-sandbox-client.py', root, rest, grpc];
  const client = opened.use(openSdk({ name, pids }, { place, command, environment: { KUBECONFIG: config } }));
  return { ...client, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
