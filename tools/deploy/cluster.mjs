/**
 * Provides what a claim of agent-sandbox needs, but for nodes: `node tools/deploy/cluster.mjs`.
 *
 * That is the API server of Kubernetes, compiled from its module, its store from Debian, and the controller of
 * agent-sandbox with its definitions.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { unpackDebian } from '../release/debian.mjs';
import { repositoryRoot } from '../repository.mjs';
import { runTool } from '../setup.mjs';
import { folder, runGo } from './programs.mjs';

const agentSandbox = 'sigs.k8s.io/agent-sandbox';
const version = 'v1.0.3';

export const apiServer = join(folder, 'kube-apiserver-v1.34.4');
export const controller = join(folder, `agent-sandbox-controller-${version}`);
export const definitions = join(folder, `go/pkg/mod/${agentSandbox}@${version}/k8s/crds`);
export const etcd = () =>
  join(unpackDebian({ packages: ['etcd-server'], folder: join(folder, 'etcd') }), 'usr/bin/etcd');

function provideController() {
  if (existsSync(controller)) return;
  const name = `${agentSandbox}/cmd/agent-sandbox-controller`;
  console.log(`setup: go build ${name}, version ${version} (the test of a claim needs the controller)`);
  // `go install` asks for the list of versions too, which a proxy of modules may not have.
  const module = join(folder, 'agent-sandbox-module');
  mkdirSync(module, { recursive: true });
  writeFileSync(join(module, 'go.mod'), `module controller\n\nrequire ${agentSandbox} ${version}\n`);
  runGo(['build', '-mod=mod', '-o', controller, name], module);
}

function provideApiServer() {
  if (existsSync(apiServer)) return;
  const name = 'k8s.io/kubernetes/cmd/kube-apiserver';
  console.log(`setup: go build ${name}, which takes minutes (the test of a claim needs the server)`);
  runGo(['build', '-o', apiServer, name], join(repositoryRoot, 'tools/deploy/api-server'));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await runTool(() => {
    etcd();
    provideController();
    provideApiServer();
    return 0;
  });
}
