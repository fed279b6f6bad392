/** Starts a container of an image that `npm run images` has built, and sends requests to its gateway only. */
import { spawnSync } from 'node:child_process';
import { containerEnvironment, imageNames } from '../../tools/containers.mjs';
import type { Json, JsonObject } from './sandbox.ts';
import { until } from './until.ts';

const startMs = 120_000;

export interface ContainerOptions {
  /** One of the two images, or the name of an image that a test has built. */
  readonly image?: string;
  /** The key of the container, which every request carries unless a request has a header of that name. */
  readonly key?: string;
  /** The port that is published. */
  readonly port?: number;
  /** Without systemd, podman publishes no port of slirp4netns again when it restarts a container. */
  readonly network?: 'slirp4netns' | 'bridge';
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
}

export class Container implements AsyncDisposable {
  url = '';

  private constructor(
    readonly id: string,
    private readonly options: ContainerOptions,
  ) {}

  /** Returns when the container runs; `untilHealthy` waits for its API. */
  static run(options: ContainerOptions = {}): Container {
    const { image = 'daemon', key, port = 8080, network = 'slirp4netns', env = {}, args = [] } = options;
    const all = { ...(key === undefined ? {} : { SANDBOX_API_KEY: key }), ...env };
    const variables = Object.entries(all).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
    const flags = ['--network', network, '--publish', `127.0.0.1::${port}`, '--shm-size', '4g'];
    const name = image === 'daemon' || image === 'computer' ? imageNames[image] : image;
    const { stdout } = podman('run', '--detach', ...flags, ...variables, ...args, name);
    const container = new Container(stdout.trim(), options);
    container.#findUrl();
    return container;
  }

  static async start(options: ContainerOptions = {}): Promise<Container> {
    const container = Container.run(options);
    await container.untilHealthy();
    return container;
  }

  async untilHealthy(): Promise<void> {
    await until('the container is healthy', async () => (await this.status('/health')) === 200, startMs);
  }

  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const { key } = this.options;
    const headers = { ...(key === undefined ? {} : { 'x-api-key': key }), ...(init.headers as object) };
    return await fetch(`${this.url}${path}`, { redirect: 'manual', keepalive: false, ...init, headers });
  }

  /** Zero while nothing listens. */
  async status(path: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
    try {
      const response = await this.fetch(path, { headers: { ...headers } });
      await response.arrayBuffer();
      return response.status;
    } catch {
      return 0; // The gateway does not listen yet, or no longer.
    }
  }

  async untilServed(path: string): Promise<void> {
    await until(`${path} is served`, async () => (await this.status(path)) === 200, startMs);
  }

  /** The `data` of an answer. Throws unless the answer is a success. */
  async ok(route: string, body?: unknown): Promise<JsonObject> {
    const [method = 'GET', path = '/'] = route.split(' ');
    const payload = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = { 'content-type': 'application/json' };
    const response = await this.fetch(path, { method, headers, ...payload });
    const answer = (await response.json()) as Json;
    if (response.status !== 200) throw new Error(`${route}: ${response.status} ${JSON.stringify(answer)}`);
    return answer['data'] as JsonObject;
  }

  /** The report of /v1/capabilities, once each of its probes has answered in time: a busy machine takes longer. */
  async capabilities(): Promise<JsonObject> {
    let report: JsonObject = {};
    const isComplete = async () => {
      report = await this.ok('GET /v1/capabilities');
      return !JSON.stringify(report).includes('the probe gave no answer');
    };
    await until('every probe answers', isComplete, startMs);
    return report;
  }

  /** The output of a command as the preset account. */
  async output(command: string): Promise<string> {
    const record = await this.ok('POST /v2/commands', { command });
    return String(record['stdout']).trim();
  }

  async tools(): Promise<string[]> {
    const { tools } = (await this.mcp('tools/list')) as { tools: { name: string }[] };
    return tools.map(({ name }) => name);
  }

  async mcp(method: string, params: object = {}): Promise<JsonObject> {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const text = await (await this.fetch('/mcp', { method: 'POST', headers, body })).text();
    const message = text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? '{}');
    const { result } = JSON.parse(message) as { result: JsonObject };
    return result;
  }

  /** Runs a program as root inside, past the daemon. */
  exec(...command: string[]): string {
    return podman('exec', this.id, ...command).stdout;
  }

  logs(): string {
    const { stdout, stderr } = spawnPodman('logs', this.id);
    return `${stdout}${stderr}`;
  }

  get isRunning(): boolean {
    return podman('inspect', '--format', '{{.State.Running}}', this.id).stdout.trim() === 'true';
  }

  /** When the container started, in milliseconds since the epoch. */
  get startedAt(): number {
    return Number(podman('inspect', '--format', '{{.State.StartedAt.UnixMilli}}', this.id).stdout);
  }

  get exitCode(): number {
    return Number(podman('inspect', '--format', '{{.State.ExitCode}}', this.id).stdout);
  }

  /** `healthy`, `unhealthy` or `starting`, by the health check of the image. */
  checkHealth(): string {
    spawnPodman('healthcheck', 'run', this.id);
    return podman('inspect', '--format', '{{.State.Health.Status}}', this.id).stdout.trim();
  }

  stop(withinSeconds: number): void {
    podman('stop', '--time', String(withinSeconds), this.id);
  }

  /** Ends every process of the container without a signal that a program could handle. */
  kill(): void {
    podman('kill', '--signal', 'KILL', this.id);
  }

  /** Starts a container that has ended again, with the files that it had. */
  startAgain(): void {
    podman('start', this.id);
    this.#findUrl();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.resolve(podman('rm', '--force', '--time', '0', this.id));
  }

  #findUrl(): void {
    this.url = `http://${podman('port', this.id, String(this.options.port ?? 8080)).stdout.trim()}`;
  }
}

export function podman(...args: string[]): { stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnPodman(...args);
  if (status !== 0) throw new Error(`podman ${args.join(' ')}: ${stderr}`);
  return { stdout, stderr };
}

function spawnPodman(...args: string[]) {
  return spawnSync('podman', args, { encoding: 'utf8', env: containerEnvironment, maxBuffer: 64 * 1024 * 1024 });
}
