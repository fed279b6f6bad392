/** Calls an MCP server by JSON-RPC over its standard input. */
import type { Limit } from '../limit.ts';
import { within } from '../within.ts';
import { linesOf } from './lines.ts';
import { mcpReply, type McpMessage, type McpReply } from './mcp.ts';

const answerWithinMs = 60_000;

/** A client of an MCP server at the other end of two pipes. */
export class McpServer implements AsyncDisposable {
  readonly #child: Bun.Subprocess<'pipe', 'pipe', 'ignore'>;
  readonly #waiting = new Map<number, (answer: string) => void>();
  #lastId = 0;

  constructor(command: readonly string[], { directory, limit }: { directory: string; limit: Limit | null }) {
    this.#child = Bun.spawn([...(limit?.enter ?? []), ...command], {
      cwd: directory,
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'ignore',
    });
    void this.#read();
  }

  async initialize(): Promise<void> {
    const clientInfo = { name: 'bench', version: '1' };
    await this.#request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    this.#send({ method: 'notifications/initialized' });
  }

  /** The text of a tool's answer. */
  async call(name: string, args: object): Promise<string> {
    return (await this.ask(name, args)).text;
  }

  async ask(name: string, args: object): Promise<McpReply> {
    return mcpReply(name, await this.#request('tools/call', { name, arguments: args }));
  }

  #request(method: string, params: object): Promise<string> {
    const id = ++this.#lastId;
    const answer = new Promise<string>((resolve) => this.#waiting.set(id, resolve));
    this.#send({ id, method, params });
    return within(answerWithinMs, method, answer);
  }

  #send(message: object): void {
    void this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    void this.#child.stdin.flush();
  }

  async #read(): Promise<void> {
    for await (const line of linesOf(new Response(this.#child.stdout))) {
      const { id } = JSON.parse(line) as McpMessage;
      // A message without an id is a notification.
      if (id === undefined) continue;
      this.#waiting.get(id)?.(line);
      this.#waiting.delete(id);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGTERM');
    await this.#child.exited;
  }
}
