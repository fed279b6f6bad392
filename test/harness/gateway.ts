/** Starts the gateway of the images, with Debian's nginx, in front of a daemon of a test. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Subprocess } from 'bun';
import { needPrograms } from './programs.ts';
import { repositoryRoot, type Sandbox } from './sandbox.ts';
import { until } from './until.ts';

const start = join(repositoryRoot, 'images/daemon/rootfs/opt/boxkeep/start/gateway');

export interface GatewayOptions {
  /** The key that the daemon of the test has. */
  readonly key?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export class Gateway implements AsyncDisposable {
  readonly #log: string;
  readonly #process: Subprocess<'ignore', 'ignore', 'ignore'>;

  private constructor(
    readonly url: string,
    sandbox: Sandbox,
    { key = '', env = {} }: GatewayOptions,
  ) {
    const state = join(sandbox.directory, 'gateway-state');
    mkdirSync(join(state, 'viewer'), { recursive: true });
    writeFileSync(join(state, 'viewer/vnc.html'), 'the viewer');
    // nginx reads files of pages as an account of its own.
    chmodSync(sandbox.directory, 0o755);
    this.#log = join(state, 'log');
    // nginx opens /dev/stdout, which cannot be done with the sockets that this runtime passes as pipes.
    this.#process = Bun.spawn(['sh', '-c', 'exec "$0" >"$1" 2>&1', start, this.#log], {
      ...{ stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' },
      env: {
        ...{
          PATH: process.env['PATH'],
          IMAGE_STATE: state,
          BOXKEEP_HAS_KEY: key === '' ? 'no' : 'yes',
          NOVNC_DIRECTORY: join(state, 'viewer'),
        },
        ...{ GATEWAY_PORT: new URL(url).port, SVC_PORT: new URL(sandbox.url).port },
        ...env,
      },
    });
  }

  static async start(sandbox: Sandbox, options: GatewayOptions = {}): Promise<Gateway> {
    needPrograms('nginx');
    const gateway = new Gateway(`http://127.0.0.1:${await freePort()}`, sandbox, options);
    await until('the gateway serves', () => gateway.#serves());
    return gateway;
  }

  /** Everything that the gateway wrote. */
  get output(): string {
    return readFileSync(this.#log, 'utf8');
  }

  /** Does not follow redirects, and keeps no connection open. */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return await fetch(`${this.url}${path}`, { redirect: 'manual', keepalive: false, ...init });
  }

  async status(path: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
    const response = await this.fetch(path, { headers: { ...headers } });
    await response.arrayBuffer();
    return response.status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill('SIGTERM');
    await this.#process.exited;
  }

  async #serves(): Promise<boolean> {
    if (this.#process.exitCode !== null) throw new Error(`the gateway has ended: ${this.output}`);
    return await this.status('/health').then(
      (status) => status === 200,
      () => false, // Not yet.
    );
  }
}

/** A port that nothing listens on now. nginx cannot report a port that it has chosen. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return address !== null && typeof address === 'object' ? address.port : 0;
}
