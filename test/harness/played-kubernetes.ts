/** Plays the API of Kubernetes for clients of agent-sandbox: there is one sandbox, which every claim gets. */
import { writeFileSync } from 'node:fs';

/** The name of the sandbox, in the namespace `default`. */
const name = 'box';

const group = 'agents.x-k8s.io/v1beta1';
const conditions = [{ type: 'Ready', status: 'True' }];
const status = { podIPs: ['127.0.0.1'], serviceFQDN: '127.0.0.1', conditions };
const sandbox = { apiVersion: group, kind: 'Sandbox', metadata: { name }, status };
const claim = {
  apiVersion: `extensions.${group}`,
  kind: 'SandboxClaim',
  metadata: { name: 'claim' },
  status: { sandbox: { name } },
};

/** What each path answers, in the namespace. */
const objects: Readonly<Record<string, object>> = {
  sandboxes: { apiVersion: group, kind: 'SandboxList', metadata: {}, items: [sandbox] },
  [`sandboxes/${name}`]: sandbox,
  sandboxclaims: claim,
  'sandboxclaims/claim': claim,
};

/** Writes a configuration to `path` that leads clients to it, and says that the sandbox is on loopback. */
export function playKubernetes(path: string): Disposable {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ url }) {
      const object = objects[new URL(url).pathname.split('/namespaces/default/')[1] ?? ''];
      return object ? Response.json(object) : new Response(null, { status: 404 });
    },
  });
  writeFileSync(path, JSON.stringify(kubeconfig(`http://127.0.0.1:${server.port}`)));
  return { [Symbol.dispose]: () => void server.stop(true) };
}

const kubeconfig = (server: string) => ({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'played',
  contexts: [{ name: 'played', context: { cluster: 'played', user: 'nobody' } }],
  clusters: [{ name: 'played', cluster: { server } }],
  users: [{ name: 'nobody', user: {} }],
});
