/** Starts `boxkeep computer-use` for a test, sends it requests, and ends it by its pid. */
import type { Subprocess } from 'bun';
import { programEnvironment } from './closed-ports.ts';
import { program, repositoryRoot, type EnvelopeBody, type JsonObject, type Reply } from './sandbox.ts';
import { until } from './until.ts';

export interface WorkerOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Runs the worker through another program, for example `unshare`. */
  readonly launcher?: readonly string[];
}

export class ComputerWorker implements AsyncDisposable {
  /** Everything that the worker wrote. */
  stdout = '';
  stderr = '';
  url = '';
  #process: Subprocess<'ignore', 'pipe', 'pipe'> | null = null;

  private constructor(private readonly options: WorkerOptions) {}

  /** The worker has only the given variables and PATH. */
  static async start(options: WorkerOptions = {}): Promise<ComputerWorker> {
    const worker = new ComputerWorker(options);
    await worker.launch();
    return worker;
  }

  /** Starts the worker, on the same port after `kill`. */
  async launch(): Promise<void> {
    const { args = [], env = {}, launcher = [] } = this.options;
    const port = this.url === '' ? '0' : new URL(this.url).port;
    const before = this.stdout.length;
    const worker = Bun.spawn([...launcher, ...program(), 'computer-use', '--port', port, ...args], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      cwd: repositoryRoot,
      env: programEnvironment(env),
    });
    this.#process = worker;
    void this.#collect(worker.stdout, 'stdout');
    void this.#collect(worker.stderr, 'stderr');
    const serving = () => /"message":"serving","url":"([^"]+)"/.exec(this.stdout.slice(before))?.[1];
    await until('the worker serves', () => serving() !== undefined || worker.exitCode !== null);
    const url = serving();
    if (url === undefined) throw new Error(`the worker ended with ${worker.exitCode}: ${this.stdout}${this.stderr}`);
    this.url = url;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** The variables that lead a daemon to this worker. */
  get environment(): Readonly<Record<string, string>> {
    return { SVC_COMPUTER_USE_URL: this.url };
  }

  fetch(route: string, body?: unknown, init: RequestInit = {}): Promise<Response> {
    const [method = 'GET', path = '/'] = route.split(' ');
    const headers = { 'content-type': 'application/json', ...(init.headers as Record<string, string>) };
    const payload = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    return fetch(`${this.url}${path}`, { method, keepalive: false, ...payload, ...init, headers });
  }

  async request(route: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply<EnvelopeBody>> {
    const response = await this.fetch(route, body, { headers });
    return { status: response.status, headers: response.headers, body: (await response.json()) as EnvelopeBody };
  }

  /** The `data` of an answer. Throws unless the answer is a success. */
  async ok(route: string, body?: unknown): Promise<JsonObject> {
    const { status, body: answer } = await this.request(route, body);
    if (status !== 200 || !answer.success) throw new Error(`${route}: ${status} ${JSON.stringify(answer)}`);
    return answer.data;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.kill(signal);
  }

  /** Ends the worker at once, or as SIGTERM does; resolves with its exit code. */
  async end(signal: NodeJS.Signals): Promise<number> {
    this.signal(signal);
    return (await this.#process?.exited) ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end('SIGKILL');
  }

  async #collect(stream: ReadableStream<Uint8Array>, name: 'stdout' | 'stderr'): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
      this[name] += decoder.decode(chunk, { stream: true });
    }
  }
}
