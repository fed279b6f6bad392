/** A claim of agent-sandbox, from the published client to the daemon. Only the kubelet is played. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { definitions } from '../../../tools/deploy/cluster.mjs';
import { program } from '../../../tools/deploy/programs.mjs';
import { portsOf, withAgentSandbox } from '../../harness/agent-sandbox.ts';
import { needPython } from '../../harness/interpreters.ts';
import { startCommand } from '../../harness/line-program.ts';
import { expect, repositoryRoot, test } from '../../harness/sandbox.ts';
import { Cluster } from './cluster.ts';

test(
  'AGS-CLAIM a claim gets a sandbox of the manifests here, and its commands and files are those of the daemon',
  async ({ sandbox }) => {
    await using cluster = await Cluster.start(join(sandbox.directory, 'cluster'));
    const manifests = join(sandbox.directory, 'manifests.yaml');
    writeFileSync(manifests, built(join(sandbox.directory, 'own')));
    const { rest, grpc } = portsOf(sandbox);
    const client = startCommand([
      ...[
        'env',
        `KUBECONFIG=${cluster.kubeconfig}`,
        `TMPDIR=${cluster.directory}`,
        `${needPython('clients/agent-sandbox')}/bin/python`,
        '-B',
      ],
      ...[join(import.meta.dirname, 'claim.py'), definitions, manifests, String(rest), String(grpc)],
    ]);
    await client.next(); // The definitions are there.
    cluster.startController();
    expect(await client.end()).toEqual([
      ['status', 'SandboxReady'],
      ['service', expect.stringMatching(/^[\w-]+\.boxkeep\.svc\.cluster\.local$/)],
      ['run', [3, 'out\n']],
      ['file', 'text'],
      ['claims', [1, 0]],
    ]);
    expect(await sandbox.ok('GET /v2/commands')).toMatchObject({ commands: [{ exit_code: 3 }] });
  },
  withAgentSandbox({ timeoutMs: 300_000 }),
);

/** The base with the component, as docs/guide/fleet.md shows it. */
function built(own: string): string {
  mkdirSync(own);
  const place = relative(own, join(repositoryRoot, 'deploy/kubernetes'));
  const lines = [`resources: [${place}/base]`, `components: [${place}/agent-sandbox]`];
  writeFileSync(join(own, 'kustomization.yaml'), lines.join('\n'));
  const { exitCode, stdout, stderr } = Bun.spawnSync([program('kustomize'), 'build', own]);
  if (exitCode !== 0) throw new Error(stderr.toString());
  return stdout.toString();
}
