/** Kubernetes without nodes: its API server with a store, and the controller of agent-sandbox. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiServer, controller, etcd } from '../../../tools/deploy/cluster.mjs';
import { freeFixedPort } from '../../harness/free-port.ts';
import { until } from '../../harness/until.ts';

const token = 'administrator';
const startMs = 120_000;

export class Cluster implements AsyncDisposable {
  readonly #programs: Bun.Subprocess[] = [];
  readonly kubeconfig: string;

  private constructor(readonly directory: string) {
    this.kubeconfig = join(directory, 'kubeconfig');
  }

  static async start(directory: string): Promise<Cluster> {
    mkdirSync(directory);
    const cluster = new Cluster(directory);
    try {
      await cluster.#startServer();
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
    return cluster;
  }

  /** After its definitions are there. */
  startController(): void {
    const ports = ['--metrics-bind-address', '0', '--health-probe-bind-address', '0'];
    this.#start([controller, '--extensions', '--leader-elect=false', ...ports], { KUBECONFIG: this.kubeconfig });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.#programs.toReversed()) {
      program.kill('SIGKILL'); // Nothing of it is kept.
      await program.exited;
    }
  }

  async #startServer(): Promise<void> {
    const [store, peers] = [freeFixedPort(), freeFixedPort()].map((port) => `http://127.0.0.1:${port}`);
    const address = `https://127.0.0.1:${freeFixedPort()}`;
    const keys = join(this.directory, 'accounts.key');
    Bun.spawnSync(['openssl', 'genrsa', '-out', keys, '2048']);
    writeFileSync(join(this.directory, 'tokens'), `${token},admin,1,"system:masters"\n`);
    writeFileSync(this.kubeconfig, JSON.stringify(kubeconfig(address)));
    this.#start([
      ...[etcd(), '--data-dir', join(this.directory, 'store'), '--listen-peer-urls', `${peers}`],
      ...['--listen-client-urls', `${store}`, '--advertise-client-urls', `${store}`],
    ]);
    this.#start([
      ...[apiServer, '--etcd-servers', `${store}`, '--cert-dir', join(this.directory, 'certificates')],
      ...['--bind-address', '127.0.0.1', '--secure-port', new URL(address).port],
      ...['--token-auth-file', join(this.directory, 'tokens'), '--authorization-mode', 'RBAC'],
      ...['--service-account-key-file', keys, '--service-account-signing-key-file', keys],
      ...['--service-account-issuer', 'https://kubernetes.default.svc', '--service-cluster-ip-range', '10.0.0.0/24'],
      // No controller here makes accounts of namespaces.
      ...['--disable-admission-plugins', 'ServiceAccount'],
    ]);
    await until('the API server is ready', () => isReady(address), startMs);
  }

  #start(command: readonly string[], environment: Readonly<Record<string, string>> = {}): void {
    const log = Bun.file(join(this.directory, `log-${this.#programs.length}`));
    const env = { PATH: process.env['PATH'], ...environment };
    this.#programs.push(Bun.spawn([...command], { cwd: this.directory, env, stdout: log, stderr: log }));
  }
}

async function isReady(address: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}` };
  const options = { headers, keepalive: false, tls: { rejectUnauthorized: false } };
  return await fetch(`${address}/readyz`, options).then(
    ({ ok }) => ok,
    () => false, // The server does not listen yet.
  );
}

const kubeconfig = (server: string) => ({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'here',
  contexts: [{ name: 'here', context: { cluster: 'here', user: 'admin' } }],
  clusters: [{ name: 'here', cluster: { server, 'insecure-skip-tls-verify': true } }],
  users: [{ name: 'admin', user: { token } }],
});
