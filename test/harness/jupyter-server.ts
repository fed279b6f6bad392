/** Runs an external Jupyter server with a token and its own kernels, which a test can stop and restart. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

export interface ServerKernel {
  readonly id: string;
  readonly name: string;
  readonly execution_state: string;
  readonly connections: number;
}

const markerVariable = 'BOXKEEP_TEST_JUPYTER';
/** The server imports for seconds, and for longer on a busy machine. */
const startWithinMs = 50_000;

export class JupyterServer implements AsyncDisposable {
  readonly token = randomUUID();
  /** The port stays the same after a restart. */
  readonly port = freePort();
  #process: Bun.Subprocess | null = null;
  #directory: string | null = null;

  constructor(private readonly environment: string) {}

  /** Created at its first use: a test that is left out must leave nothing. */
  get directory(): string {
    if (this.#directory === null) {
      this.#directory = mkdtempSync(join(tmpdir(), 'boxkeep-jupyter-'));
      mkdirSync(join(this.#directory, 'work'));
    }
    return this.#directory;
  }

  get address(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The value for SVC_JUPYTER_ENDPOINT. */
  get endpoint(): string {
    return `${this.address}/?token=${this.token}`;
  }

  async launch(): Promise<void> {
    const python = join(this.environment, 'bin/python3');
    const flags = ['--no-browser', '--allow-root', `--port=${this.port}`, '--ServerApp.port_retries=0'];
    this.#process = Bun.spawn(
      [python, '-m', 'jupyter_server', ...flags, '--ServerApp.ip=127.0.0.1', '--ServerApp.jpserver_extensions={}'],
      { cwd: join(this.directory, 'work'), env: this.#env(), stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' },
    );
    const stderr = new Response(this.#process.stderr as ReadableStream).text();
    await until(
      'the Jupyter server answers',
      async () => {
        if (this.#process?.exitCode !== null) throw new Error(`the Jupyter server has ended: ${await stderr}`);
        return await this.#answers();
      },
      startWithinMs,
    );
  }

  /** Repeats a failed request: the server fails when a kernel ends while it lists them. */
  async kernels(): Promise<ServerKernel[]> {
    let kernels: ServerKernel[] | null = null;
    await until('the server lists its kernels', async () => {
      const response = await this.#fetch('/api/kernels');
      if (response.ok) kernels = (await response.json()) as ServerKernel[];
      return response.ok;
    });
    return kernels ?? [];
  }

  /** Writes a kernelspec, which the server finds from now on. */
  addKernel(name: string, spec: object): void {
    const place = join(this.directory, 'data/kernels', name);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'kernel.json'), JSON.stringify(spec));
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.kill(signal);
  }

  /** Resolves when the server and its kernels have ended. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.signal(signal);
    await this.#process?.exited;
    await until('its kernels have gone', () => this.processes().length === 0);
  }

  /** The processes of the server and its kernels. */
  processes(): number[] {
    const mark = `${markerVariable}=${this.token}`;
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && environmentOf(name).split('\0').includes(mark))
      .map(Number);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.signal('SIGCONT');
    for (const pid of this.processes()) endNow(pid);
    await this.#process?.exited;
    if (this.#directory !== null) rmSync(this.#directory, { recursive: true, force: true });
  }

  #env(): Record<string, string> {
    const place = (name: string) => join(this.directory, name);
    return {
      PATH: `${this.environment}/bin:/usr/bin:/bin`,
      HOME: this.directory,
      JUPYTER_TOKEN: this.token,
      JUPYTER_DATA_DIR: place('data'),
      JUPYTER_CONFIG_DIR: place('config'),
      JUPYTER_RUNTIME_DIR: place('runtime'),
      IPYTHONDIR: place('ipython'),
      [markerVariable]: this.token,
    };
  }

  async #answers(): Promise<boolean> {
    try {
      return (await this.#fetch('/api/kernelspecs')).ok;
    } catch {
      return false; // The server does not listen yet.
    }
  }

  #fetch(path: string): Promise<Response> {
    return fetch(`${this.address}${path}`, { headers: { authorization: `token ${this.token}` }, keepalive: false });
  }
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return ''; // The process ended during the read.
  }
}

function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended meanwhile.
  }
}
