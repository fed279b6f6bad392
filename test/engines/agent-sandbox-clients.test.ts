/** The published client of agent-sandbox for Python, unchanged: with its in-cluster and its direct configuration. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentSandboxCalls } from '../../tools/gen/agent-sandbox-calls.ts';
import { portsOf, rootOf, runGrpc, urlOf, withAgentSandbox } from '../harness/agent-sandbox.ts';
import { programEnvironment } from '../harness/closed-ports.ts';
import { needPython } from '../harness/interpreters.ts';
import { playKubernetes } from '../harness/played-kubernetes.ts';
import { expect, repositoryRoot, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';

const folder = join(repositoryRoot, 'test/clients/agent-sandbox');
const expected = JSON.parse(readFileSync(join(folder, 'results.json'), 'utf8')) as AgentSandboxCalls;

const options = withAgentSandbox({
  timeoutMs: 120_000,
  prepare(sandbox) {
    mkdirSync(join(rootOf(sandbox), 'sub'), { recursive: true });
    writeFileSync(join(rootOf(sandbox), 'file'), '');
    symlinkSync('/etc', join(rootOf(sandbox), 'out'));
  },
});

test(
  'AGS-CLIENT the in-cluster configuration gets the results of docs/reference/agent-sandbox.md',
  async ({ sandbox }) => {
    const { rest, grpc } = portsOf(sandbox);
    expect(await calls(sandbox, 'pod', String(rest), String(grpc))).toEqual(expected.inCluster);
  },
  options,
);

test(
  'AGS-CLIENT the direct configuration gets the results of docs/reference/agent-sandbox.md',
  async ({ sandbox }) => expect(await calls(sandbox, 'direct', urlOf(sandbox, 'legacy'))).toEqual(expected.direct),
  options,
);

test(
  'AGS-PROC every RPC answers a plain client as docs/reference/agent-sandbox.md says',
  async ({ sandbox }) => expect(await runGrpc('agent-sandbox-calls.py', sandbox)).toEqual(expected.rpcs),
  options,
);

/** The client asks the API of Kubernetes for one object, in which it finds the address of the pod. */
async function calls(sandbox: Sandbox, ...place: readonly string[]): Promise<JsonObject> {
  const config = join(sandbox.directory, 'kubeconfig');
  using _kubernetes = playKubernetes(config);
  const client = Bun.spawn(
    [`${needPython('clients/agent-sandbox')}/bin/python`, '-B', join(folder, 'calls.py'), ...place],
    {
      env: programEnvironment({ KUBECONFIG: config }),
      stdout: 'pipe',
      stderr: 'pipe',
    },
  );
  const [stdout, stderr] = await Promise.all([client.stdout.text(), client.stderr.text()]);
  if ((await client.exited) !== 0) throw new Error(`the client failed after ${stdout}: ${stderr}`);
  const lines = stdout.trim().split('\n');
  return Object.fromEntries(lines.map((line) => JSON.parse(line) as [string, unknown]));
}
