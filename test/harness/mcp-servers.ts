/** Starts MCP servers as processes: the official one for Python, the browser server, and one with a given behaviour. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Subprocess } from 'bun';
import { freePort } from './free-port.ts';
import { needMcpClients, needNodes, needPackages, nodeOf } from './interpreters.ts';
import { repositoryRoot } from './sandbox.ts';
import { until } from './until.ts';

export interface McpRequestLine {
  readonly verb: string;
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly params?: Readonly<Record<string, unknown>>;
}

const bridgeHeaders = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
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

  /** A bridge to a server over stdio that operates the Chromium at a debugging port, as docs/guide/mcp.md shows. */
  static async bridged(server: 'playwright' | 'devtools', debuggingPort: number): Promise<McpServerProcess> {
    needNodes();
    const modules = join(needPackages('mcp-bridge'), 'node_modules');
    const browser = `http://127.0.0.1:${debuggingPort}`;
    const commands = {
      playwright: ['@playwright/mcp/cli.js', '--cdp-endpoint', browser],
      devtools: [
        'chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js',
        '--browserUrl',
        browser,
        '--no-pageIdRouting',
        '--no-usage-statistics',
      ],
    };
    const [script = '', ...flags] = commands[server];
    const node = nodeOf(22);
    const bridge = join(modules, 'mcp-proxy/dist/bin/mcp-proxy.mjs');
    const options = ['--host', '127.0.0.1', '--server', 'stream', '--stateless'];
    const bridged = await McpServerProcess.#of((port) => [
      ...[node, bridge, ...options, '--port', String(port || freePort())],
      ...['--', node, join(modules, script), ...flags],
    ]);
    // The bridge prints its port before it listens.
    const ping = () => ({ method: 'POST', headers: bridgeHeaders, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' });
    const answers = () =>
      fetch(bridged.url, ping()).then(
        () => true,
        () => false,
      );
    await until('the bridge listens', answers, 60_000);
    return bridged;
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
    // Servers may write into their working directory and into the one for temporary files.
    const place = { cwd: this.#directory, env: { ...process.env, TMPDIR: this.#directory } };
    const streams = { stdin: 'ignore', stdout, stderr: 'inherit' } as const;
    this.#process = Bun.spawn([...this.command(this.#port)], { ...place, ...streams, detached: true });
    // Python takes seconds to load the package on a busy machine.
    await until('the MCP server listens', () => this.#lines().length > 0, 60_000);
    this.#port = Number(/(\d+)(?:\/mcp)?$/.exec(this.#lines()[0] ?? '')?.[1]);
  }

  /** Ends the group, which has the server behind a bridge. */
  async kill(): Promise<void> {
    if (this.#process?.exitCode === null && this.#process.signalCode === null)
      process.kill(-this.#process.pid, 'SIGKILL');
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
