/** Starts MCP servers as processes: the official one for Python, the browser server, and one with a given behaviour. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Subprocess } from 'bun';
import { freePort } from './free-port.ts';
import { needMcpClients, nodeOf } from './interpreters.ts';
import { repositoryRoot } from './sandbox.ts';
import { until } from './until.ts';

export interface McpRequestLine {
  readonly verb: string;
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** The port of the browser server in the images. */
const browserServerPort = 8100;

export class McpServerProcess implements AsyncDisposable {
  /** The output goes to a file, so that a request can be read as soon as its answer has arrived. */
  readonly #directory = mkdtempSync(join(tmpdir(), 'boxkeep-test-'));
  #process: Subprocess<'ignore', Bun.BunFile, 'inherit'> | null = null;
  #port = 0;

  private constructor(private readonly command: (port: number) => readonly string[]) {}

  /** `names` are the names of its tools. */
  static async start(behaviour: string, ...names: readonly string[]): Promise<McpServerProcess> {
    const script = join(repositoryRoot, 'test/fixtures/mcp-server.mjs');
    return await McpServerProcess.#of((port) => [process.execPath, script, behaviour, String(port), ...names]);
  }

  /** `environment` is a Python environment with the package `mcp`. */
  static async python(environment: string, mode: 'stateless' | 'sessions'): Promise<McpServerProcess> {
    const script = join(repositoryRoot, 'test/fixtures/mcp-server.py');
    return await McpServerProcess.#of((port) => [`${environment}/bin/python`, script, mode, String(port)]);
  }

  /** The server of the images that operates the Chromium at a debugging port. */
  static async browser(debuggingPort: number): Promise<McpServerProcess> {
    const script = join(needMcpClients(), 'node_modules/@agent-infra/mcp-server-browser/dist/index.cjs');
    const browser = ['--cdp-endpoint', `http://127.0.0.1:${debuggingPort}/json/version`];
    return await McpServerProcess.#of((port) => {
      // With port 0 the server takes a free port, but reports port 0.
      const address = ['--host', '127.0.0.1', '--port', String(port || freePort(browserServerPort))];
      return [nodeOf(22), script, ...address, ...browser];
    });
  }

  static async #of(command: (port: number) => readonly string[]): Promise<McpServerProcess> {
    const server = new McpServerProcess(command);
    await server.launch();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/mcp`;
  }

  /** The requests since the last start, without the line that has the port. */
  get requests(): readonly McpRequestLine[] {
    const lines = this.#lines().slice(1);
    return lines.map((line) => JSON.parse(line) as McpRequestLine);
  }

  /** Starts the server, after `kill` on the same port. */
  async launch(): Promise<void> {
    const stdout = Bun.file(this.#path);
    await Bun.write(stdout, '');
    this.#process = Bun.spawn([...this.command(this.#port)], { stdin: 'ignore', stdout, stderr: 'inherit' });
    // Python takes seconds to load the package on a busy machine.
    await until('the MCP server listens', () => this.#lines().length > 0, 60_000);
    this.#port = Number(/(\d+)(?:\/mcp)?$/.exec(this.#lines()[0] ?? '')?.[1]);
  }

  async kill(): Promise<void> {
    this.#process?.kill('SIGKILL');
    await this.#process?.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#directory, { recursive: true });
  }

  get #path(): string {
    return join(this.#directory, 'output');
  }

  #lines(): string[] {
    return readFileSync(this.#path, 'utf8').split('\n').slice(0, -1);
  }
}
