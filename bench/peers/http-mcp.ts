/** Calls an MCP server by HTTP, as a client of the revisions of 2025 does. */
import { mcpReply, type McpMessage, type McpReply } from './mcp.ts';

export class HttpMcp {
  constructor(private readonly url: string) {}

  async call(name: string, input: object): Promise<McpReply> {
    return mcpReply(name, await this.#request('tools/call', { name, arguments: input }));
  }

  /** The names of the tools. */
  async list(): Promise<readonly string[]> {
    const { result } = JSON.parse(await this.#request('tools/list', {})) as McpMessage;
    return result?.tools?.map(({ name }) => name) ?? [];
  }

  async #request(method: string, params: object): Promise<string> {
    const response = await fetch(this.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return await response.text();
  }
}
