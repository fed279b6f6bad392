/** Speaks to `POST /mcp` like a client without a library: one JSON-RPC message a request. */
import { expect, type Json, type JsonObject, type Sandbox } from './sandbox.ts';
import { strangeNamesOfTool } from './advice-words.ts';
import { sseMessages } from './sse.ts';

type Headers = Record<string, string>;

export interface RpcReply {
  readonly status: number;
  readonly type: string | null;
  readonly body: Json;
}

/** What a client of a revision without a handshake sends with each request. */
export const modernVersion = '2026-07-28';
const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': modernVersion,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

let ids = 0;

/** Posts a body as it is. */
export async function post(sandbox: Sandbox, body: unknown, headers: Headers = {}): Promise<RpcReply> {
  const response = await sandbox.fetch('POST /mcp', body, { headers });
  const text = await response.text();
  const type = response.headers.get('content-type');
  return { status: response.status, type, body: type === 'application/json' ? JSON.parse(text) : text };
}

/** A request of the 2025 revisions, or of a client that knows no revision. */
export function rpc(sandbox: Sandbox, method: string, params: object = {}, headers: Headers = {}): Promise<RpcReply> {
  return post(sandbox, { jsonrpc: '2.0', id: ++ids, method, params }, headers);
}

/** A request of the revision of 2026, with its envelope and its headers. */
export function modernRpc(
  sandbox: Sandbox,
  method: string,
  params: JsonObject = {},
  headers: Headers = {},
): Promise<RpcReply> {
  const name = params['name'] as string | undefined;
  return rpc(
    sandbox,
    method,
    { ...params, _meta: modernMeta },
    {
      'mcp-protocol-version': modernVersion,
      'mcp-method': method,
      ...(name === undefined ? {} : { 'mcp-name': name }),
      ...headers,
    },
  );
}

export interface ToolReply {
  readonly text: string;
  readonly data: Json;
  readonly isError: boolean;
  readonly content: readonly JsonObject[];
}

/** Calls a tool and returns its result. Throws on a protocol error. */
export async function callTool(sandbox: Sandbox, name: string, input: object = {}): Promise<ToolReply> {
  const { status, body } = await rpc(sandbox, 'tools/call', { name, arguments: input });
  if (status !== 200 || body.error) throw new Error(`${name}: ${status} ${JSON.stringify(body)}`);
  const reply = toolReply(body.result);
  if (reply.isError)
    expect([reply.text, strangeNamesOfTool(name, reply.text, JSON.stringify(input))]).toEqual([reply.text, []]);
  return reply;
}

export function toolReply(result: Json): ToolReply {
  const content = result.content as readonly JsonObject[];
  const text = content.map((part) => (part['type'] === 'text' ? String(part['text']) : '')).join('');
  return { text, data: result.structuredContent, isError: result.isError === true, content };
}

/** Calls a tool with a progress token, and yields the messages of the stream. */
export async function* followTool(
  sandbox: Sandbox,
  { name, input, id, signal }: { name: string; input: object; id?: number; signal?: AbortSignal },
): AsyncGenerator<JsonObject> {
  const params = { name, arguments: input, _meta: { progressToken: 'p' } };
  const message = { jsonrpc: '2.0', id: id ?? ++ids, method: 'tools/call', params };
  for await (const { event, data } of sseMessages(sandbox, '/mcp', { post: message, ...(signal && { signal }) })) {
    if (event === 'message') yield data;
  }
}

/** The built-in tools as the endpoint lists them. */
export async function toolNames(sandbox: Sandbox): Promise<string[]> {
  const { status, body } = await rpc(sandbox, 'tools/list');
  expect(status).toBe(200);
  return body.result.tools.map((tool: JsonObject) => tool['name'] as string);
}
